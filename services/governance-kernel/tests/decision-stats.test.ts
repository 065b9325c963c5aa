import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Instant } from '@countersign/contracts';
import type { DecisionStats } from '@countersign/contracts/governance-kernel';
import { countDecisions } from '../src/store/decision-count-store.ts';
import { poolOf, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { seal, sealMany } from './_seal.ts';

let test: TestKernel;

beforeAll(async () => {
  test = await startTestKernel();
  for (const tenant of ['acme', 'umbrella']) await test.activate(tenant, starterPolicy);
  await sealMany(test, 30);
  await sealMany(test, 3, { principal: 'clerk', tool: 'files.delete' });
  await seal(test, { principal: 'clerk', tool: 'pay.send' });
  await seal(test, { mode: 'shadow' });
  await seal(test, { tenant: 'umbrella', tool: 'files.delete' });
});
afterAll(() => test.close());

const hourMs = 3_600_000;
const instantOf = (ms: number) => new Date(ms).toISOString() as Instant; // toISOString returns this format
/** The issue time of everything that `beforeAll` seals is within an hour of this time. */
const startedMs = Date.now();
const period = () => ({ from: instantOf(startedMs - hourMs), to: instantOf(startedMs + hourMs) });

type Query = Partial<NonNullable<Parameters<ReturnType<TestKernel['as']>['getDecisionStats']>[0]>['query']>;

async function statsOf(query: Query = {}, tenant = 'acme'): Promise<DecisionStats> {
  await countDecisions(test.kernel.context.transaction);
  return (await test.as(tenant).getDecisionStats({ query: { ...period(), bucket: '5m', by: 'verdict', ...query } }))
    .body;
}

const totals = ({ series }: DecisionStats) => Object.fromEntries(series.map(({ key, total }) => [String(key), total]));

/** Counts the decisions in an export of the period, without the kernel's counters. */
async function exported() {
  const { body } = await test.as('acme').exportReceipts({ query: { ...period(), to: instantOf(Date.now()) } });
  const payloads = (body as { receipt?: { payload: Record<string, unknown> } }[]).map(
    ({ receipt }) => receipt?.payload,
  );
  const decisions = payloads.filter((payload) => payload?.['kind'] === 'decision' && payload['shadow'] === false);
  return (member: string) => {
    const counts: Record<string, number> = {};
    for (const payload of decisions) counts[String(payload?.[member])] = (counts[String(payload?.[member])] ?? 0) + 1;
    return counts;
  };
}

describe('numbers of decisions', () => {
  it('equal the counts in the export, for every member and bucket width', async () => {
    const recounted = await exported();
    const members = {
      verdict: 'verdict',
      agent: 'principal_id',
      tool: 'tool',
      reason: 'reason_code',
      effect: 'effect_level',
    };
    for (const by of ['verdict', 'agent', 'tool', 'reason', 'effect'] as const) {
      for (const bucket of ['5m', '30m', '1h', '1d'] as const)
        expect([by, bucket, totals(await statsOf({ by, bucket }))]).toEqual([by, bucket, recounted(members[by])]);
      const { series, total, buckets } = await statsOf({ by });
      expect(series.every(({ counts, total: own }) => counts.reduce((sum, count) => sum + count, 0) === own)).toBe(
        true,
      );
      expect([total, series[0]?.counts.length]).toEqual([34, buckets.length]);
    }
  });

  it('include only the tenant and the decisions that match the filter', async () => {
    expect(totals(await statsOf({}, 'umbrella'))).toEqual({ DENY: 1 });
    expect(totals(await statsOf({ by: 'tool', verdict: 'DENY' }))).toEqual({ 'files.delete': 3 });
    expect(totals(await statsOf({ by: 'reason', agent: 'clerk' }))).toEqual({
      POLICY_DENIED: 3,
      APPROVAL_REQUIRED: 1,
    });
    expect(
      totals(await statsOf({ from: instantOf(startedMs - 9 * hourMs), to: instantOf(startedMs - 8 * hourMs) })),
    ).toEqual({});
  });

  it('list the twenty largest keys, and one total for all others', async () => {
    await Promise.all(Array.from({ length: 25 }, (_, nth) => seal(test, { tenant: 'many', tool: `tool.of${nth}` })));
    const { series, others, total } = await statsOf({ by: 'tool' }, 'many');
    expect([series.length, others?.total, total]).toEqual([20, 5, 25]);
  });

  it('cover the last day by verdict by default', async () => {
    await statsOf();
    const { body } = await test.as('umbrella').getDecisionStats({ query: {} }); // the schema fills in the defaults
    expect([body.bucket, totals(body), body.complete_to]).toEqual(['30m', { DENY: 1 }, null]);
    expect([48, 49]).toContain(body.buckets.length);
  });

  it('are refused for an empty period and for more than 200 buckets', async () => {
    const { from } = period();
    await expect(statsOf({ to: from })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await expect(statsOf({ from: instantOf(startedMs - 30 * 24 * hourMs) })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('limit 200') as unknown,
    });
  });

  it('are the same after a recount, despite new decisions and a second counter at the same time', async () => {
    const { context } = test.kernel;
    const before = await statsOf({ by: 'agent' });
    await poolOf(test.kernel).query(`UPDATE decision_counts SET calls = 0`);
    await Promise.all([
      test.as('acme').deleteDecisionStats(),
      countDecisions(context.transaction),
      sealMany(test, 20, { tenant: 'third', tool: 'files.delete' }),
    ]);
    const { series, buckets, total } = before;
    expect(await statsOf({ by: 'agent' })).toMatchObject({ series, buckets, total });
    expect(totals(await statsOf({}, 'third'))).toEqual({ DENY: 20 });
  });
});
