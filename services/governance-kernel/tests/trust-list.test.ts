import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import {
  addTrustKeys,
  getTrustList,
  revokeTrustKeys,
  type SignedTrustList,
} from '@countersign/contracts/governance-kernel';
import { encodeBase64Url, publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import { verifyExport, verifyTrustList } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { after } from './_revoked.ts';
import { changing, newRoot, type TrustKeyChange } from './_trust.ts';

const root = newRoot();
let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({ env: { GOV_TRUST_ROOT: root.publicKey }, unverified: 'its keys are revoked' });
  await test.activate('acme', starterPolicy);
});
afterEach(() => test.close());

const client = () =>
  createClient(
    { addTrustKeys, revokeTrustKeys, getTrustList },
    { baseUrl: test.kernel.url, headers: () => ({ authorization: `Bearer ${adminKey}` }) },
  );
const add = async (trust: SignedTrustList) => (await client().addTrustKeys({ body: { trust } })).body;
const revoke = async (trust: SignedTrustList) => (await client().revokeTrustKeys({ body: { trust } })).body;
const published = async () => (await test.as('acme').listTrustKeys()).body.keys;
const call = async () =>
  (await test.as('acme').evaluate({ body: { action: 'tool.call', tool: 'files.read', session_id: 's1' } as never }))
    .body;
const keyOf = (purpose: 'receipts' | 'log') => test.kernel.context.signers[purpose].keyId;

/** Adds version 1, with the keys that the kernel published at its first start. */
async function begin(): Promise<SignedTrustList> {
  const first = root.first(await published(), new Date());
  await add(first);
  return first;
}

/**
 * Creates the next version, with a new receipts key that ends the previous one. Restarts the kernel with the new key.
 */
async function rotate(previous: SignedTrustList): Promise<{ list: SignedTrustList; old: string }> {
  const old = keyOf('receipts');
  const made = generateSigningKey();
  const now = new Date();
  const key = jwk(made.publicKey, { kid: made.keyId, valid_from: new Date(now.getTime() - 10_000).toISOString() });
  const until = new Date(now.getTime() + 60_000).toISOString();
  const list = root.next(previous, [...changing(previous, old, { valid_until: until }), key], now);
  await add(list);
  test.env['GOV_SIGNING_KEY'] = made.privateKeyPem;
  await test.restart();
  return { list, old };
}

function jwk(publicKey: Uint8Array, members: TrustKeyChange): object {
  const rest = { use: 'sig', alg: 'EdDSA', purpose: 'receipts', log_origin: null, valid_until: null, revoked_at: null };
  return { ...publicKeyToJwk(publicKey), ...rest, ...members };
}

async function judged(trust: SignedTrustList): Promise<string> {
  const { body } = await test.as('acme').exportReceipts({ query: { session_id: 's1' } });
  const { keys } = verifyTrustList(trust, { root: root.publicKey, provider: nodeProvider });
  const lines = body.map((line) => JSON.stringify(line));
  const { fault, verdict } = verifyExport(lines, { trust: keys, provider: nodeProvider });
  return fault === null ? verdict : fault.code;
}

describe('a kernel with a trust root', () => {
  verifies(
    'kn.trust',
    'keeps receipts of a rotated key valid, unless it was revoked before a checkpoint covered them',
    async () => {
      await call();
      const { list, old } = await rotate(await begin());
      await call();
      expect(await judged(list)).toBe('VERIFIED');
      const at = after(await test.kernel.context.checkpoints.create()).toISOString();
      const revoked = root.next(list, changing(list, old, { revoked_at: at }), new Date());
      expect(await revoke(revoked)).toMatchObject({ version: 3, key_ids: [old] });
      expect((await published()).find(({ kid }) => kid === old)?.revoked_at).toBe(at);
      expect(await judged(revoked)).toBe('VERIFIED');
      const earlier = root.next(
        revoked,
        changing(revoked, old, { revoked_at: '2026-01-01T00:00:00.000Z' }),
        new Date(),
      );
      await revoke(earlier);
      expect(await judged(earlier)).toBe('KEY_REVOKED');
    },
  );

  it('seals each version, and serves the newest as the root signed it', async () => {
    await expect(client().getTrustList()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const first = await begin();
    expect((await client().getTrustList()).body).toEqual(first);
    const again = await add(first);
    const { body: receipt } = await test.as('system').getReceipt({ params: { receipt_id: again.receipt_id as never } });
    expect(receipt.payload).toMatchObject({ kind: 'trust', action: 'trust.keys.add', resource: 'trust:1' });
  });

  it('rejects a list that the root did not sign, and a list that removes or undoes an entry', async () => {
    const keys = await published();
    const strange = newRoot().first(keys, new Date());
    await expect(add(strange)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(add(root.first(keys.slice(1), new Date()))).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    const first = await begin();
    const gone = root.next(first, first.list.keys.slice(1), new Date());
    await expect(revoke(gone)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(add(root.next(first, keys, new Date()))).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    await expect(add(root.sign({ ...first.list, version: 3 }))).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    const future = root.next(
      first,
      changing(first, keyOf('log'), { revoked_at: null }),
      new Date(Date.now() + 120_000),
    );
    await expect(revoke(future)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect((await client().getTrustList()).body).toEqual(first);
  });

  it('rejects a list under which it could not sign', async () => {
    const first = await begin();
    const revoked = root.next(
      first,
      changing(first, keyOf('receipts'), { revoked_at: new Date().toISOString() }),
      new Date(),
    );
    await expect(revoke(revoked)).rejects.toMatchObject({
      ...{ code: 'ILLEGAL_TRANSITION' },
      message: expect.stringContaining('Replace the key of the kernel first'),
    });
    expect((await call()).verdict).toBe('ALLOW');
  });

  it('does not start with a key that is missing from the list', async () => {
    await begin();
    const own = test.env['GOV_SIGNING_KEY'] ?? '';
    test.env['GOV_SIGNING_KEY'] = generateSigningKey().privateKeyPem;
    await expect(test.restart()).rejects.toThrow('is not in the trust list');
    test.env['GOV_SIGNING_KEY'] = own;
    await test.restart();
  });

  it('publishes no key from a row that the root did not sign, and fails when only such rows are left', async () => {
    const first = await begin();
    const thief = createSigner(generateSigningKey().privateKeyPem);
    const key = jwk(thief.publicKey, { kid: thief.keyId, valid_from: '2026-01-01T00:00:00.000Z' });
    const forged = newRoot().next(first, [...first.list.keys, key], new Date());
    await asAdministrator(
      test,
      `INSERT INTO kernel.trust_lists VALUES ('forged', 'installation', 2, $1, 'none', now())`,
      [JSON.stringify(forged)],
    );
    expect((await published()).map(({ x }) => x)).not.toContain(encodeBase64Url(thief.publicKey));
    await asAdministrator(test, `DELETE FROM kernel.trust_lists WHERE trust_hash <> 'forged'`);
    await expect(published()).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
  });

  it('refuses to append what a revoked key signed, in the database too', async () => {
    const { list, old } = await rotate(await begin());
    const revoked = root.next(list, changing(list, old, { revoked_at: new Date().toISOString() }), new Date());
    await revoke(revoked);
    const guard = `SELECT kernel.hold_append(now(), interval '1 hour', ARRAY[$1], ARRAY[now()])`;
    await expect(asAdministrator(test, guard, [old])).rejects.toMatchObject({ detail: 'revoked' });
    await expect(asAdministrator(test, guard, [keyOf('receipts')])).resolves.toBeUndefined();
  });
});

it('a kernel without a trust root accepts no list', async () => {
  delete test.env['GOV_TRUST_ROOT'];
  await test.restart();
  const first = root.first(await published(), new Date());
  await expect(add(first)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
