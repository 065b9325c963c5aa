import * as kernel from '@countersign/contracts/governance-kernel';
import {
  canonicalBytes,
  digestOf,
  encodeBase64Url,
  keyIdOf,
  parsePlainJson,
  publicKeyToJwk,
} from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import type { Ask } from './_ask.ts';

const root = createSigner(generateSigningKey().privateKeyPem);
/** The value of `GOV_TRUST_ROOT`. */
export const trustRoot = encodeBase64Url(root.publicKey);

/**
 * Calls the routes of the trust list of a kernel with this root. Version 2 revokes a key that version 1 ended long ago.
 */
export async function askTrust(ask: Ask): Promise<void> {
  const { publicKey } = generateSigningKey();
  const replaced = {
    ...publicKeyToJwk(publicKey),
    ...{ kid: keyIdOf(nodeProvider, publicKey), use: 'sig', alg: 'EdDSA', purpose: 'policies', log_origin: null },
    ...{ valid_from: '2026-01-01T00:00:00.000Z', valid_until: '2026-01-02T00:00:00.000Z', revoked_at: null },
  };
  const { keys } = await ask(kernel.listTrustKeys);
  const published = keys as unknown as object[]; // the schema of the route
  const first = signed({ version: 1, previous_hash: null, keys: [...published, replaced] });
  await ask(kernel.addTrustKeys, { body: { trust: first } });
  await ask(kernel.getTrustList);
  const previous_hash = digestOf(nodeProvider, canonicalBytes(parsePlainJson(first)));
  const revoked = { ...replaced, revoked_at: '2026-01-01T12:00:00.000Z' };
  const second = signed({ version: 2, previous_hash, keys: [...published, revoked] });
  await ask(kernel.revokeTrustKeys, { body: { trust: second } });
}

function signed(members: object): object {
  const list = { type: kernel.trustListType, issued_at: new Date().toISOString(), ...members };
  const value = encodeBase64Url(root.sign(canonicalBytes(parsePlainJson(list))));
  return { list, signature: { alg: 'Ed25519', key_id: root.keyId, value } };
}
