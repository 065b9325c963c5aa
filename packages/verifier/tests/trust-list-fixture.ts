import { canonicalBytes, encodeBase64Url, type JsonValue } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';

/** Version 1 of a trust list with these keys, and the root that signed it. */
export function trustListOf(keys: readonly Record<string, JsonValue>[]) {
  const signer = createSigner(generateSigningKey().privateKeyPem);
  const list = {
    ...{ type: 'countersign.trust.v1', version: 1, previous_hash: null, issued_at: '2026-01-01T00:00:00.000Z' },
    keys: keys.map((key) => ({
      ...{ use: 'sig', alg: 'EdDSA', log_origin: null, valid_until: null, revoked_at: null },
      ...key,
    })),
  };
  const value = encodeBase64Url(signer.sign(canonicalBytes(list)));
  const signature = { alg: 'Ed25519', key_id: signer.keyId, value };
  return { trust: { list, signature }, root: encodeBase64Url(signer.publicKey) };
}
