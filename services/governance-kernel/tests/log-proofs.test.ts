import { createHash, createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Digest } from '@countersign/contracts';
import type { Checkpoint, DecisionReply } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { asAdministrator } from './_administrator.ts';
import { adminKey, starterPolicy, startTestKernel, type KernelClient, type TestKernel } from './_kernel.ts';
import { path, proof, rootFromInclusion, rootsFromConsistency, treeHash } from './_rfc9162.ts';
import { seal, sealMany } from './_seal.ts';

let test: TestKernel;
let client: KernelClient;
let sealed: DecisionReply[];
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  client = test.as('acme');
  // The log has two whole tiles of 256 leaves and a partial tile. Proofs thus read stored nodes, whole tiles and the
  // edge of the tree.
  sealed = await sealMany(test, 600);
});
afterAll(() => test.close());

const bytesOf = (digest: Digest) => Buffer.from(digest.slice('sha256:'.length), 'hex');
const fromBase64 = (hashes: string[]) => hashes.map((hash) => Buffer.from(hash, 'base64'));

/** The entries of the log for RFC 9162: the 32 bytes of each receipt hash. */
async function entries(): Promise<Buffer[]> {
  const { rows } = await test.pool.query<{ receipt_hash: Digest }>(
    'SELECT receipt_hash FROM ledger ORDER BY log_index',
  );
  return rows.map(({ receipt_hash }) => bytesOf(receipt_hash));
}

async function createCheckpoint() {
  const admin = await fetch(`${test.kernel.url}/api/v1/boundary/checkpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}` },
  });
  expect(admin.status).toBe(201);
  return (await admin.json()) as Checkpoint; // a response of the kernel
}

describe('the log', () => {
  it('has a proof of each receipt that was sealed after an earlier proof', async () => {
    for (let sealedSince = 0; sealedSince < 3; sealedSince += 1) {
      const { receipt_id } = await seal(test);
      const { body } = await client.getInclusionProof({ query: { receipt_id } });
      expect(fromBase64(body.hashes)).toEqual(path(body.log_index, (await entries()).slice(0, body.tree_size)));
    }
  });

  verifies('kn.log', 'has inclusion proofs that lead to the root of a separate RFC 9162 implementation', async () => {
    const { receipt_id: newest } = await seal(test);
    const leaves = await entries();
    const chosen = [newest, ...sealed.filter((_, index) => index % 41 === 0).map(({ receipt_id }) => receipt_id)];
    for (const receipt_id of chosen) {
      const { body } = await client.getInclusionProof({ query: { receipt_id } });
      const covered = leaves.slice(0, body.tree_size);
      const entry = leaves[body.log_index] ?? Buffer.alloc(0);
      expect(fromBase64(body.hashes)).toEqual(path(body.log_index, covered));
      const root = rootFromInclusion(entry, { index: body.log_index, size: body.tree_size }, fromBase64(body.hashes));
      expect(root).toEqual(treeHash(covered));
      expect(root).toEqual(bytesOf(body.checkpoint.root_hash));
      const another = leaves[(body.log_index + 1) % leaves.length] ?? Buffer.alloc(0);
      const place = { index: body.log_index, size: body.tree_size };
      expect(rootFromInclusion(another, place, fromBase64(body.hashes))).not.toEqual(root);
    }
  });

  verifies(
    'kn.log',
    'has consistency proofs that lead to both roots of a separate RFC 9162 implementation',
    async () => {
      const leaves = await entries();
      const to = leaves.length;
      for (const from of [1, 2, 3, 128, 255, 256, 257, 384, 511, 512, 513, to - 1, to]) {
        const { body } = await client.getConsistencyProof({ query: { from, to } });
        const hashes = fromBase64(body.hashes);
        const [first, second] = [treeHash(leaves.slice(0, from)), treeHash(leaves)];
        expect([from, hashes]).toEqual([from, proof(from, leaves)]);
        expect(rootsFromConsistency({ first: from, second: to }, first, hashes)).toEqual([first, second]);
      }
    },
  );

  it('refuses proofs for sizes that it does not have', async () => {
    const to = (await entries()).length + 1;
    await expect(client.getConsistencyProof({ query: { from: 1, to } })).rejects.toMatchObject({ param: 'to' });
    await expect(client.getConsistencyProof({ query: { from: 3, to: 2 } })).rejects.toMatchObject({ param: 'from' });
  });
});

describe('checkpoints', () => {
  it('count the records of the whole log, and each adds the new records to the count of the one before', async () => {
    for (const before of [await createCheckpoint(), await createCheckpoint()]) {
      await sealMany(test, 3);
      const { record_count } = await createCheckpoint();
      const { rows } = await test.pool.query('SELECT 1 FROM ledger WHERE record IS NOT NULL');
      expect([record_count, record_count >= before.record_count + 3]).toEqual([rows.length, true]);
    }
  });

  verifies('kn.checkpoint', 'are signed notes that node:crypto verifies with the published key', async () => {
    const { note, tree_size, root_hash } = await createCheckpoint();
    const { body: trust } = await client.listTrustKeys();
    const [text = '', signatures = ''] = note.split('\n\n');
    const [origin, size, root, time = ''] = text.split('\n');
    expect([origin, size, root]).toEqual([trust.log_origin, String(tree_size), bytesOf(root_hash).toString('base64')]);
    expect(time).toMatch(/^countersign\.time \d{4}-\d{2}-\d{2}T[0-9:.]{12}Z$/);
    expect(bytesOf(root_hash)).toEqual(treeHash((await entries()).slice(0, tree_size)));

    const [, name, encoded = ''] = /^— (\S+) (\S+)\n$/.exec(signatures) ?? [];
    const [vkeyName, keyId = '', typedKey = ''] = trust.log_vkey.split('+');
    const key = Buffer.from(trust.log_vkey.slice(`${vkeyName}+${keyId}+`.length), 'base64').subarray(1);
    expect([name, vkeyName, typedKey.length > 0]).toEqual([trust.log_origin, trust.log_origin, true]);
    const hint = createHash('sha256')
      .update(Buffer.concat([Buffer.from(`${name}\n\u0001`), key]))
      .digest()
      .subarray(0, 4);
    const signature = Buffer.from(encoded, 'base64');
    expect([hint.toString('hex'), signature.subarray(0, 4)]).toEqual([keyId, hint]);

    const published = trust.keys.find(({ x }) => x === key.toString('base64url'));
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: published?.x ?? '' }, format: 'jwk' });
    const signed = (message: string) => verify(null, Buffer.from(message), publicKey, signature.subarray(4));
    expect(signed(`${text}\n`)).toBe(true);
    expect(signed(`${text.replace(String(tree_size), String(tree_size + 1))}\n`)).toBe(false);
  });

  it('verify while the log is empty', async () => {
    const empty = await startTestKernel({ env: { GOV_DEMO: '0' }, twins: false });
    const { body: head } = await empty.as('acme').createCheckpoint();
    const { body } = await empty.as('acme').verifyCheckpoint({ params: { checkpoint_id: head.checkpoint_id } });
    expect([head.tree_size, body.verified]).toEqual([0, true]);
    await empty.close();
  });

  it('verify against the ledger and their predecessor, and are listed newest first', async () => {
    const older = await createCheckpoint();
    await seal(test);
    const { checkpoint_id, tree_size } = await createCheckpoint();
    const { body } = await client.verifyCheckpoint({ params: { checkpoint_id } });
    expect(body).toMatchObject({
      verified: true,
      checks: [{ check: 'note' }, { check: 'root' }, { check: 'consistency' }],
    });
    const { body: first } = await client.listCheckpoints({ query: { limit: 1 } });
    const { body: second } = await client.listCheckpoints({ query: { limit: 1, cursor: first.next_cursor ?? '' } });
    expect([...first.data, ...second.data].map((listed) => listed.checkpoint_id)).toEqual([
      checkpoint_id,
      older.checkpoint_id,
    ]);
    const { body: latest } = await client.getLatestCheckpoint();
    expect(latest).toMatchObject({ checkpoint_id, tree_size });
  });

  it('do not verify, and neither do records, after the ledger was changed in the database', async () => {
    const { record_id, receipt_id, log_index } = await seal(test);
    const { checkpoint_id } = await createCheckpoint();
    const forged = `sha256:${'0'.repeat(64)}`;
    const rewrite = (hash: string) =>
      asAdministrator(test, 'UPDATE kernel.ledger SET receipt_hash = $2 WHERE log_index = $1', [log_index, hash]);
    const { body: receipt } = await client.getReceipt({ params: { receipt_id } });
    await rewrite(forged);
    const { body: checkpoint } = await client.verifyCheckpoint({ params: { checkpoint_id } });
    const { body: record } = await client.verifyRecord({ params: { record_id } });
    await rewrite(receipt.receipt_hash);
    expect(checkpoint).toMatchObject({ verified: false });
    expect(checkpoint.checks).toContainEqual({ check: 'root', passed: false, code: 'CHECKPOINT_INVALID' });
    expect(record).toMatchObject({ verified: false });
    expect(record.checks).toContainEqual({ check: 'signature', passed: false, code: 'HASH_MISMATCH' });
  });

  it('a record does not verify after its text was changed or its successor was deleted', async () => {
    const damaged = await startTestKernel({ unverified: 'its log is damaged', twins: false });
    await damaged.activate('*', starterPolicy);
    const { receipt, record_id, log_index } = await seal(damaged);
    const { session_id } = receipt.payload;
    await seal(damaged, { session_id });
    const failed = async () => {
      const { body } = await damaged.as('acme').verifyRecord({ params: { record_id } });
      return body.checks.filter(({ passed }) => !passed).map(({ check, code }) => `${check} ${code ?? ''}`);
    };
    const replaceInRecord = (from: string, to: string) =>
      asAdministrator(damaged, 'UPDATE kernel.ledger SET record = replace(record, $2, $3) WHERE log_index = $1', [
        ...[log_index, from, to],
      ]);
    expect(await failed()).toEqual([]);
    await replaceInRecord('"E1"', '"E0"');
    expect(await failed()).toEqual(['record_hash RECORD_HASH_MISMATCH', 'same_statement RECORD_HASH_MISMATCH']);
    await replaceInRecord('"E0"', '"E1"');
    const successor = 'DELETE FROM kernel.ledger WHERE session_id = $1 AND lamport_clock = 2';
    await asAdministrator(damaged, successor, [session_id]);
    expect(await failed()).toEqual(['chain_next CHAIN_GAP', 'inclusion INCLUSION_UNPROVEN']);
    await damaged.close();
  });
});
