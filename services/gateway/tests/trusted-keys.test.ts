import { beforeEach, describe, expect, it } from '@jest/globals';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import { kernelKeyRing, listFreshMs } from '../src/governance/trusted-keys.ts';
import { StubTrust } from './_stub-trust.ts';

const signer = () => createSigner(generateSigningKey().privateKeyPem);
const [first, second] = [signer(), signer()];
const endsAt = '2026-02-01T00:00:00.000Z';

let trust: StubTrust;
let nowMs: number;
let reads: number;
let isAway: boolean;
beforeEach(() => {
  trust = new StubTrust();
  trust.publish([{ key: first }]);
  [nowMs, reads, isAway] = [0, 0, false];
});

function ring() {
  const kernel = {
    listTrustKeys: () => Promise.reject(new Error('keys of the kernel must not count')),
    getTrustList: () => {
      reads += 1;
      return isAway ? Promise.reject(new Error('away')) : Promise.resolve({ kind: 'ok', body: trust.list });
    },
  };
  const pinned = { root: trust.root, configured: [] };
  return kernelKeyRing(pinned, { kernel: kernel as never, now: () => new Date(nowMs) }); // only these two are called
}

describe('the keys of a gateway with a trust root', () => {
  it('are read once while the list is fresh', async () => {
    const keys = ring();
    await keys.keysFor(first.keyId);
    nowMs += listFreshMs - 1;
    await keys.keysFor(first.keyId);
    expect(reads).toBe(1);
  });

  verifies('kn.trust', 'contain a rotated key at once, and a revocation after five seconds at most', async () => {
    const keys = ring();
    await keys.keysFor(first.keyId);
    const ended = { key: first, window: { valid_until: endsAt } };
    trust.publish([ended, { key: second, window: { valid_from: endsAt } }]);
    expect((await keys.keysFor(second.keyId)).map(({ key_id: id }) => id)).toEqual([first.keyId, second.keyId]);
    const revoked = { ...ended, window: { valid_until: endsAt, revoked_at: endsAt } };
    trust.publish([revoked, { key: second, window: { valid_from: endsAt } }]);
    nowMs += listFreshMs;
    expect(await keys.keysFor(first.keyId)).toMatchObject([{ key_id: first.keyId, revoked_at: endsAt }, {}]);
  });

  it('count no longer when the list cannot be read again, or when the root did not sign it', async () => {
    const keys = ring();
    await keys.keysFor(first.keyId);
    nowMs += listFreshMs;
    isAway = true;
    const unavailable = { code: 'GOVERNANCE_KEYS_UNAVAILABLE' };
    await expect(keys.keysFor(first.keyId)).rejects.toMatchObject(unavailable);
    isAway = false;
    trust.publish([{ key: second }], signer());
    await expect(keys.keysFor(second.keyId)).rejects.toMatchObject(unavailable);
    expect(keys.pinned().map(({ key_id: id }) => id)).toEqual([first.keyId]);
  });
});
