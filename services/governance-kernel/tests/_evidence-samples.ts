import type { Digest } from '@countersign/contracts';
import { publicKeyToJwk } from '@countersign/crypto';
import { generateSigningKey } from '@countersign/crypto/signing';
import type { TestKernel } from './_kernel.ts';
import type { Sample } from './_raw.ts';
import { Recorder } from './_recorder.ts';
import { changing, type Root } from './_trust.ts';

/** Sample calls of the envelope routes. One envelope of this receipt exists already. */
export async function envelopeSamples(test: TestKernel, receiptHash: Digest): Promise<Record<string, Sample>> {
  const body = { envelope: 'jws', native_evidence_hash: receiptHash };
  const { manifest_id } = (await test.as('acme').createEnvelope({ body } as never)).body; // the schema fills in the defaults
  const params = { manifest_id };
  return {
    'create-envelope': { body },
    'get-envelope': { params },
    'get-envelope-payload': { params },
    'verify-envelope': { params, body: {} },
  };
}

/** Sample calls of the host chain routes. One chain is imported already. */
export async function hostSamples(test: TestKernel): Promise<Record<string, Sample>> {
  const recorder = new Recorder();
  const at = test.kernel.context.clock().getTime();
  const bodyOf = (chain: string) => ({
    chain: recorder.chain(chain, [{ at, host: 'api.example' }]),
    keys: [recorder.key],
  });
  const { host_chain_id } = (await test.as('acme').importHostChain({ query: {}, body: bodyOf('first') })).body;
  return { 'import-host-chain': { body: bodyOf('second') }, 'get-host-chain': { params: { host_chain_id } } };
}

const dayMs = 86_400_000;

/** Two versions of the trust list. The second one revokes a key that expired two days ago. */
export async function trustSamples(test: TestKernel, root: Root): Promise<Record<string, Sample>> {
  const now = test.kernel.context.clock();
  const ago = (days: number) => new Date(now.getTime() - days * dayMs).toISOString();
  const { publicKey, keyId } = generateSigningKey();
  const ended = {
    ...publicKeyToJwk(publicKey),
    ...{ kid: keyId, use: 'sig', alg: 'EdDSA', purpose: 'policies', log_origin: null },
    ...{ valid_from: ago(3), valid_until: ago(2), revoked_at: null },
  };
  const { keys } = (await test.as('acme').listTrustKeys()).body;
  const first = root.first([...keys, ended], now);
  const second = root.next(first, changing(first, keyId, { revoked_at: ago(2.5) }), now);
  return {
    'add-trust-keys': { body: { trust: first } },
    'revoke-trust-keys': { body: { trust: second } },
    'get-trust-list': {},
  };
}
