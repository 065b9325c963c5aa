import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { ChainExport } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, type TrustedKey } from '@countersign/verifier';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal } from './_seal.ts';

let test: TestKernel;
let exported: ChainExport;
let trust: TrustedKey[];
let session_id: SessionId;
let head: string;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  session_id = newSession();
  const tools = ['files.read', 'files.delete', 'pay.send', 'files.read', 'files.read'];
  for (const tool of tools) head = (await seal(test, { session_id, tool })).receipt_hash;
  exported = (await test.as('acme').exportReceipts({ query: { session_id } })).body;
  trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
});
afterAll(() => test.close());

/** What a stranger with the published keys says, who knows the chain's head from elsewhere. */
function judge(change: (chain: ChainExport) => ChainExport): string {
  const report = verifyExport(change(structuredClone(exported)), { trust, provider: nodeProvider, heads: [head] });
  return report.code ?? report.verdict;
}

const moved = <Item>(items: Item[], from: number, to: number): Item[] => {
  const rest = items.filter((_, index) => index !== from);
  return [...rest.slice(0, to), ...items.slice(from, from + 1), ...rest.slice(to)];
};

describe('GET /api/v1/receipts/export', () => {
  verifies('kn.chain', 'a chain exported by a live kernel verifies offline, with records and inclusion proofs', () => {
    const report = verifyExport(exported, { trust, provider: nodeProvider, heads: [head] });
    expect(report).toMatchObject({ verdict: 'VERIFIED', receipts: 5, records: 5, proofs: 5 });
    expect(report.chains).toMatchObject([{ first: 1, last: 5, start: 'PROVEN', end: 'PROVEN' }]);
  });

  verifies('kn.chain', 'each removed receipt is detected, wherever it stood', () => {
    const without = exported.receipts.map((_, gone) =>
      judge((chain) => ({
        ...chain,
        receipts: chain.receipts.filter((_receipt, index) => index !== gone),
        records: chain.records.filter((_record, index) => index !== gone),
        proofs: chain.proofs.filter((_proof, index) => index !== gone),
      })),
    );
    expect(without).not.toContain('VERIFIED');
    expect(without).toEqual(['CHAIN_GAP', 'CHAIN_GAP', 'CHAIN_GAP', 'CHAIN_GAP', 'CHAIN_GAP']);
  });

  verifies('kn.chain', 'each reordering of two receipts is detected', () => {
    const places = exported.receipts.map((_, index) => index);
    const swaps = places.flatMap((from) => places.filter((to) => to !== from).map((to) => [from, to] as const));
    const verdicts = swaps.map(([from, to]) =>
      judge((chain) => ({ ...chain, receipts: moved(chain.receipts, from, to) })),
    );
    expect(verdicts.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
  });

  verifies(
    'kn.chain',
    'an inserted receipt is detected, a genuine one of another session and a second copy',
    async () => {
      const stray = await seal(test);
      const { body: other } = await test.as('acme').exportReceipts({
        query: { session_id: stray.receipt.payload.session_id },
      });
      const [foreign] = other.receipts;
      const claimed = structuredClone(foreign);
      if (claimed !== undefined) claimed.payload.session_id = session_id;
      for (const [index] of exported.receipts.entries()) {
        const insert = (receipt: ChainExport['receipts'][number] | undefined) =>
          judge((chain) => ({ ...chain, receipts: chain.receipts.toSpliced(index, 0, ...(receipt ? [receipt] : [])) }));
        expect(insert(claimed)).toBe('SIGNATURE_INVALID');
        expect(insert(exported.receipts[index])).toBe('DUPLICATE');
      }
    },
  );

  verifies('kn.chain', 'each changed member of receipts and records is detected', () => {
    const members = Object.keys(exported.receipts[0]?.payload ?? {});
    const changed = members.map((member) =>
      judge((chain) => {
        const payload = chain.receipts[2]?.payload as Record<string, unknown>;
        payload[member] = payload[member] === null ? 'x' : differing(payload[member]);
        return chain;
      }),
    );
    expect(members.length).toBeGreaterThan(18);
    expect(changed.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
    const record = judge((chain) => {
      for (const held of chain.records) held.intent.effect_level = 'E0';
      return chain;
    });
    expect(record).toBe('RECORD_HASH_MISMATCH');
  });

  verifies('kn.chain', 'each changed member of a proof is detected, and so is another checkpoint', () => {
    type Proof = ChainExport['proofs'][number];
    const withProof = (change: (proof: Proof) => Partial<Proof>) =>
      exported.proofs.map((_, at) =>
        judge((chain) => ({
          ...chain,
          proofs: chain.proofs.map((proof, index) => (index === at ? { ...proof, ...change(proof) } : proof)),
        })),
      );
    const [stolen] = exported.proofs.slice(-1);
    const changed = [
      ...withProof(({ log_index }) => ({ log_index: log_index + 1 })),
      ...withProof(({ tree_size }) => ({ tree_size: tree_size + 1 })),
      ...withProof(({ hashes }) => ({ hashes: hashes.slice(1) })),
      ...withProof(({ hashes }) => ({ hashes: [...hashes, ...hashes.slice(0, 1)] })),
      judge((chain) => ({
        ...chain,
        proofs: chain.proofs.map(({ receipt_id }) => ({ ...structuredClone(stolen), receipt_id }) as Proof),
      })),
      judge((chain) => ({ ...chain, checkpoint: { note: chain.checkpoint?.note.replace(/^(\S+\n)/, '$11') ?? '' } })),
    ];
    expect(changed.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
  });

  it('exports parts, which verify as parts', async () => {
    const { body } = await test.as('acme').exportReceipts({ query: { session_id, from: 2, limit: 2 } });
    expect(body.receipts.map(({ payload }) => payload.lamport_clock)).toEqual([2, 3]);
    const report = verifyExport(body, { trust, provider: nodeProvider, partial: true });
    expect(report).toMatchObject({ verdict: 'VERIFIED', proofs: 2, chains: [{ start: 'UNPROVEN', end: 'UNPROVEN' }] });
  });
});

function differing(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  const text = String(value);
  return text.endsWith('a') ? `${text.slice(0, -1)}b` : `${text.slice(0, -1)}a`;
}
