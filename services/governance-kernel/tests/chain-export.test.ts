import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { ExportedHead, ExportedReceipt, ExportHeader } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, type TrustedKey } from '@countersign/verifier';
import { untilReachable } from '@countersign/testkit/until';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { after, revokeKeys, rotateKeys } from './_revoked.ts';
import { newSession, seal, sealMany } from './_seal.ts';

type Exported = { header: ExportHeader; heads: ExportedHead[]; receipts: ExportedReceipt[] };

let test: TestKernel;
let exported: Exported;
let trust: TrustedKey[];
let session_id: SessionId;
beforeEach(async () => {
  test = await startTestKernel({ unverified: 'its keys are revoked' });
  await test.activate('*', starterPolicy);
  session_id = newSession();
  for (const tool of ['files.read', 'files.delete', 'pay.send', 'files.read', 'files.read'])
    await seal(test, { session_id, tool });
  exported = await exportOf({ session_id });
  trust = await trustedKeys();
});
afterEach(() => test.close());

async function exportOf(query: {
  session_id: SessionId;
  from_lamport_clock?: number;
  limit?: number;
}): Promise<Exported> {
  const { body } = await test.as('acme').exportReceipts({ query });
  const [header, head, ...receipts] = body as [ExportHeader, ExportedHead, ...ExportedReceipt[]]; // in this order
  return { header, heads: [head], receipts };
}

async function trustedKeys(): Promise<TrustedKey[]> {
  return parseKeySet((await test.as('acme').listTrustKeys()).body);
}

function linesOf({ header, heads, receipts }: Exported): string[] {
  return [header, ...heads, ...receipts].map((line) => JSON.stringify(line));
}

/** The verdict of a third party with the published keys. */
function judge(change: (chain: Exported) => Exported): string {
  const report = verifyExport(linesOf(change(structuredClone(exported))), { trust, provider: nodeProvider });
  return report.fault?.code ?? report.verdict;
}

const moved = <Item>(items: Item[], from: number, to: number): Item[] => {
  const rest = items.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
};

describe('GET /api/v1/receipts/export', () => {
  verifies('kn.chain', 'a chain exported by a live kernel verifies offline, with records and inclusion proofs', () => {
    const report = verifyExport(linesOf(exported), { trust, provider: nodeProvider });
    expect(report).toMatchObject({ verdict: 'VERIFIED', receipts: 5, records: 5, proofs: 5, heads: 1 });
    expect(report.chains).toMatchObject([{ first: 1, last: 5, start: 'PROVEN', end: 'PROVEN' }]);
    expect([report.completeness, report.signer, report.time]).toEqual(['COMPLETE', 'TRUSTED', 'LOGGED']);
  });

  verifies('kn.chain', 'each removed receipt is detected at any position, also the last one', () => {
    const without = exported.receipts.map((_, gone) =>
      judge((chain) => ({ ...chain, receipts: chain.receipts.filter((_receipt, index) => index !== gone) })),
    );
    expect(without).toEqual(['CHAIN_GAP', 'CHAIN_GAP', 'CHAIN_GAP', 'CHAIN_GAP', 'INCOMPLETE']);
    expect(judge((chain) => ({ ...chain, heads: [] }))).toBe('INCOMPLETE');
  });

  verifies('kn.chain', 'each reordering of two receipts is detected', () => {
    const places = exported.receipts.map((_, index) => index);
    const swaps = places.flatMap((from) => places.filter((to) => to !== from).map((to) => [from, to] as const));
    const verdicts = swaps.map(([from, to]) =>
      judge((chain) => ({ ...chain, receipts: moved(chain.receipts, from, to) })),
    );
    expect(verdicts.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
  });

  verifies('kn.chain', 'an inserted receipt is detected: one from another session, or a second copy', async () => {
    const stray = await seal(test);
    const { receipts } = await exportOf({ session_id: stray.receipt.payload.session_id });
    const claimed = structuredClone(receipts[0]);
    if (claimed !== undefined) claimed.receipt.payload.session_id = session_id;
    for (const [index] of exported.receipts.entries()) {
      const insert = (line: ExportedReceipt | undefined) =>
        judge((chain) => ({ ...chain, receipts: chain.receipts.toSpliced(index, 0, ...(line ? [line] : [])) }));
      expect(insert(claimed)).toBe('SIGNATURE_INVALID');
      expect(insert(exported.receipts[index])).toBe('DUPLICATE');
    }
  });

  verifies('kn.chain', 'each changed member of receipts and records is detected', () => {
    const members = Object.keys(exported.receipts[0]?.receipt.payload ?? {});
    const changed = members.map((member) =>
      judge((chain) => {
        const payload = chain.receipts[2]?.receipt.payload as Record<string, unknown>;
        payload[member] = payload[member] === null ? 'x' : differing(payload[member]);
        return chain;
      }),
    );
    expect(members.length).toBeGreaterThan(18);
    expect(changed.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
    const record = judge((chain) => {
      for (const { record: snapshot } of chain.receipts)
        if (snapshot !== undefined) snapshot.intent.effect_level = 'E0';
      return chain;
    });
    expect(record).toBe('RECORD_HASH_MISMATCH');
  });

  verifies('kn.chain', 'each changed member of a proof is detected, and so is a different checkpoint', () => {
    type Proof = NonNullable<ExportedReceipt['proof']>;
    const withProof = (change: (proof: Proof) => Partial<Proof>) =>
      exported.receipts.map((_, at) =>
        judge((chain) => ({
          ...chain,
          receipts: chain.receipts.map(({ proof, ...line }, index) =>
            index === at && proof
              ? { ...line, proof: { ...proof, ...change(proof) } }
              : { ...line, ...(proof && { proof }) },
          ),
        })),
      );
    const changed = [
      ...withProof(({ log_index }) => ({ log_index: log_index + 1 })),
      ...withProof(({ tree_size }) => ({ tree_size: tree_size + 1 })),
      ...withProof(({ hashes }) => ({ hashes: hashes.slice(1) })),
      ...withProof(({ hashes }) => ({ hashes: [...hashes, ...hashes.slice(0, 1)] })),
      judge((chain) => ({
        ...chain,
        header: {
          ...chain.header,
          checkpoints: chain.header.checkpoints.map((note) => note.replace(/^(\S+\n)/, '$11')),
        },
      })),
    ];
    expect(changed.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
  });

  it('exports the chain of the head statements of a day like any other', async () => {
    const [{ head }] = exported.heads as [ExportedHead];
    const { session_id: headsOfDay, issued_at: issuedAt } = head.receipt.payload;
    expect(headsOfDay).toBe(`heads:${issuedAt.slice(0, 10)}`);
    const heads = await exportOf({ session_id: headsOfDay });
    const report = verifyExport(linesOf(heads), { trust, provider: nodeProvider });
    expect([report.verdict, report.receipts]).toEqual(['VERIFIED', heads.receipts.length]);
  });

  it('exports parts, which verify as parts', async () => {
    const piece = await exportOf({ session_id, from_lamport_clock: 2, limit: 2 });
    expect(piece.receipts.map(({ receipt }) => receipt.payload.lamport_clock)).toEqual([2, 3]);
    const report = verifyExport(linesOf(piece), { trust, provider: nodeProvider, partial: true });
    expect(report).toMatchObject({ verdict: 'VERIFIED', proofs: 2, chains: [{ start: 'UNPROVEN', end: 'CUT' }] });
  });

  it('returns an export that verifies with any arguments that the kernel accepts', async () => {
    const session = newSession();
    await test.activate('acme', readsArguments);
    const deepest = JSON.parse(`${'['.repeat(31)}${']'.repeat(31)}`) as never;
    for (const read of [1e20, 9007199254740992, -0, 1e-7, 'a\u202eb\ud83d\ude00', deepest, { constructor: 1 }])
      await seal(test, { session_id: session, args: { read } });
    const whole = await exportOf({ session_id: session });
    expect(JSON.stringify(whole)).toContain('100000000000000000000');
    expect(verifyExport(linesOf(whole), { trust, provider: nodeProvider })).toMatchObject({
      verdict: 'VERIFIED',
      receipts: 7,
    });
    const tooDeep = test.as('acme').evaluate({ body: { ...call, session_id: session, args: { read: [deepest] } } });
    await expect(tooDeep).rejects.toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
  });

  it('pages through a chain of any length while other decisions are sealed', async () => {
    const session = newSession();
    await sealMany(test, 120, { session_id: session });
    const [whole, replies] = await Promise.all([exportOf({ session_id: session }), sealMany(test, 40)]);
    expect(replies).toHaveLength(40);
    expect(verifyExport(linesOf(whole), { trust, provider: nodeProvider })).toMatchObject({
      verdict: 'VERIFIED',
      receipts: 120,
    });
  });

  it('waits for a connection of its own, and does not delay decisions', async () => {
    const { exports } = test.kernel.context;
    const [from, to] = [3_600_000, 0].map((agoMs) => new Date(Date.now() - agoMs).toISOString());
    const period = { from, to } as never; // both are instants
    // An export first writes a sealed head, or a checkpoint that covers the period. Unchanged counts show that it
    // waits.
    const counts =
      'SELECT (SELECT count(*) FROM ledger) AS receipts, (SELECT count(*) FROM checkpoints) AS checkpoints';
    const done = async () => (await test.pool.query<{ receipts: string; checkpoints: string }>(counts)).rows;
    await test.kernel.context.checkpoints.create(); // the kernel creates no other checkpoint for a minute
    await seal(test);
    const before = await done();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const snapshot = [1, 2].map(() => exports.transaction(() => released)); // occupies all connections for exports
    try {
      const waiting = exportOf({ session_id });
      const second = test.as('acme').exportReceipts({ query: period });
      await untilReachable(() => Promise.resolve(exports.pool.waitingCount === 2));
      expect(await done()).toEqual(before);
      expect(await seal(test)).toMatchObject({ reason_code: 'ALLOWED' });
      release();
      expect((await waiting).receipts).toHaveLength(5);
      expect((await second).status).toBe(200);
    } finally {
      release();
      await Promise.all(snapshot);
    }
  });

  it('contains the last checkpoint before its first leaf', async () => {
    const session_id = newSession();
    const before = await test.kernel.context.checkpoints.create();
    await seal(test);
    await seal(test, { session_id });
    const exported = await exportOf({ session_id });
    const [smallest = ''] = exported.header.checkpoints;
    expect(smallest).toBe(before.note);
    const options = { trust: await trustedKeys(), provider: nodeProvider };
    const { verdict, time, issued } = verifyExport(linesOf(exported), options);
    expect([verdict, time, issued?.logged_after]).toEqual(['VERIFIED', 'LOGGED', before.created_at]);
  });

  it('proves a receipt of a revoked key by a checkpoint from before the revocation, and not without one', async () => {
    const session = newSession();
    const { record_id } = await seal(test, { session_id: session });
    const checkpoint = await test.kernel.context.checkpoints.create();
    const { record_id: late } = await seal(test);
    const seenLate = await exportOf({ session_id: session });
    await revokeKeys(test, await rotateKeys(test, ['receipts']), after(checkpoint));
    const keys = await trustedKeys();
    const seenEarly = await exportOf({ session_id: session });
    const { checkpoints, consistency } = seenEarly.header;
    expect(consistency).toHaveLength(checkpoints.length - 1);
    const sizes = checkpoints.map((note) => Number(note.split('\n')[1]));
    expect(sizes).toEqual(sizes.toSorted((left, right) => left - right));
    const judged = (chain: Exported) =>
      verifyExport(linesOf({ ...chain, heads: [] }), { trust: keys, provider: nodeProvider, require: ['integrity'] });
    expect(judged(seenEarly)).toMatchObject({ verdict: 'VERIFIED', receipts: 1 });
    const unlinked = { ...seenEarly, header: { ...seenEarly.header, consistency: consistency.map(() => []) } };
    expect(judged(unlinked).fault?.code).toBe('CONSISTENCY_UNPROVEN');
    expect(judged(seenLate).fault?.code).toBe('KEY_REVOKED');
    const { body: verified } = await test.as('acme').verifyRecord({ params: { record_id } });
    expect(verified.checks.filter(({ passed }) => !passed)).toEqual([]);
    const { body: refused } = await test.as('acme').verifyRecord({ params: { record_id: late } });
    expect(refused.checks.filter(({ passed }) => !passed)).toMatchObject([{ check: 'inclusion', code: 'KEY_REVOKED' }]);
  });
});

const call = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', context: {}, mode: 'enforce' } as const;

const readsArguments = `
format: countersign/policy.v1
name: reads-arguments
version: '1'
rules:
  - { id: reads, effect: allow, match: { action: [tool.call] }, when: has(args.read) }
  - { id: others, effect: allow, match: { action: [tool.call], tool: [files.read] } }
`;

function differing(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  const text = String(value);
  return text.endsWith('a') ? `${text.slice(0, -1)}b` : `${text.slice(0, -1)}a`;
}
