import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Verdict, type TenantId } from '@countersign/contracts';
import { ReplayDetails, ReplayFindings, WhatIfReport, type VerdictAgain } from '@countersign/contracts/control-plane';
import { canonicalBytes, digestOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { evaluateRules, type CompiledPolicy } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import { Replay, WhatIf } from '../src/index.ts';
import { policyOf, sealedUnder, trust, type Call, type Sealed } from './_sealed.ts';

const small = { id: 'small', effect: 'allow', when: 'has(args.amount) && args.amount < 100.0' };
const active = policyOf([small, { id: 'asks', effect: 'escalate', match: { tool: ['pay.*'] } }]);

const call = fc.record({
  agent: fc.constantFrom('agent-1', 'agent-2'),
  session: fc.constantFrom('s-1', 's-2', 's-3'),
  tool: fc.constantFrom('files.read', 'pay.send', 'mail.send'),
  args: fc.constantFrom({}, { amount: 5 }, { amount: 500 }, { amount: 'many' }, { to: 'x' }),
}) as fc.Arbitrary<Call>;
const drafts = [
  [small, { id: 'all', effect: 'allow', match: { tool: ['files.*'] } }],
  [{ id: 'none', effect: 'deny' }],
  [{ id: 'every', effect: 'allow' }],
  [{ id: 'reads', effect: 'escalate', match: { tool: ['mail.*'] }, when: 'has(args.to)' }, small],
  [],
].map(policyOf);

type Input = { draft: CompiledPolicy; limit?: number; from?: string | null; recorded?: CompiledPolicy | null };

function reportOn(entries: readonly { receipt: unknown; record?: unknown }[], input: Input): WhatIfReport {
  const { draft, limit = 1000, from = null, recorded = active } = input;
  const times = { from: from as never, to: null }; // the text has the form of an instant
  const question = { tenant_id: 'acme' as TenantId, policy_hash: draft.hash as never, tree_size: 99, limit, ...times };
  const policyOfHash = (hash: string) => (hash === recorded?.hash ? recorded : null);
  const whatIf = new WhatIf({ question, draft, ceilings: [], policyOf: policyOfHash, trust, provider: nodeProvider });
  const isWhole = [...entries].reverse().every((entry) => whatIf.take(entry));
  return WhatIfReport.parse(whatIf.report({ isWhole }));
}

/** The draft's verdict on the original call, which has all members. */
function bruteForce({ intent, record }: Sealed, draft: CompiledPolicy): VerdictAgain {
  const covering = draft.rules.filter(
    ({ rule }) => rule.match.tool?.every((glob) => glob[0] !== intent.tool?.[0]) !== true,
  );
  if (covering.some(({ when }) => when?.reads.some((path) => path !== 'args.amount') === true)) return 'UNREPLAYABLE';
  const { kind } = evaluateRules(draft, intent, { now: record.created_at, relations: {} });
  return kind.toUpperCase() as VerdictAgain; // allow, deny, escalate
}

const rank = ['DENY', 'ESCALATE', 'ALLOW'];

describe('a report', () => {
  verifies(
    'cp.policy.whatif',
    'counts the repeated decisions of all records, and names all that became more permissive',
    () => {
      fc.assert(
        fc.property(fc.array(call, { maxLength: 40 }), fc.constantFrom(...drafts), (calls, draft) => {
          const sealed = sealedUnder(active, calls);
          const report = reportOn(sealed, { draft });
          const after = sealed.map((each) => ({
            before: each.record.verdict,
            after: bruteForce(each, draft),
            id: each.record.receipt_id,
          }));
          for (const before of Verdict.options)
            for (const [verdict, count] of Object.entries(report.matrix[before]))
              expect([before, verdict, count]).toEqual([
                before,
                verdict,
                after.filter((each) => each.before === before && each.after === verdict).length,
              ]);
          const widened = after.filter((each) => rank.indexOf(each.after) > rank.indexOf(each.before));
          expect(report.widened.map(({ receipt_id }) => receipt_id)).toEqual(widened.map(({ id }) => id).reverse());
          expect(report).toMatchObject({ decisions: calls.length, is_whole: true, unverifiable: { count: 0 } });
          const unread = after.filter((each) => each.after === 'UNREPLAYABLE').length;
          expect(report.missing).toEqual(unread === 0 ? [] : [{ field: 'args.to', decisions: unread }]);
        }),
        { numRuns: 60 },
      );
    },
  );

  verifies('cp.policy.whatif', 'is identical for the same draft and receipts, and its hash covers all of it', () => {
    const sealed = sealedUnder(active, fc.sample(call, { numRuns: 30, seed: 7 }));
    const [draft = active] = drafts;
    const report = reportOn(sealed, { draft });
    expect(reportOn(sealed, { draft })).toEqual(report);
    const { report_hash, ...rest } = report;
    expect(report_hash).toBe(digestOf(nodeProvider, canonicalBytes(rest)));
    expect(reportOn(sealed.slice(1), { draft }).report_hash).not.toBe(report_hash);
  });

  it('shows the newest twenty examples of a cell, and all widened decisions', () => {
    const calls: Call[] = Array.from({ length: 50 }, () => ({
      agent: 'a',
      session: 's',
      tool: 'files.read',
      args: {},
    }));
    const sealed = sealedUnder(active, calls);
    const report = reportOn(sealed, { draft: policyOf([{ id: 'every', effect: 'allow' }]) });
    expect(report.widened).toHaveLength(50);
    const [cell] = report.examples;
    expect(cell).toMatchObject({ before: 'DENY', after: 'ALLOW' });
    const newest = sealed.slice(30).map(({ record }) => record.receipt_id);
    expect(cell?.decisions.map(({ receipt_id }) => receipt_id)).toEqual(newest.reverse());
    const share = { decisions: 50, changed: 50, widened: 50, unreplayable: 0 };
    expect(report).toMatchObject({
      agents: [{ principal_id: 'a', ...share }],
      tools: [{ tool: 'files.read', ...share }],
    });
  });

  it('contains no more decisions than requested, and none before its start time', () => {
    const calls: Call[] = Array.from({ length: 9 }, () => ({ agent: 'a', session: 's', tool: 'x.y', args: {} }));
    const sealed = sealedUnder(active, calls);
    expect(reportOn(sealed, { draft: active, limit: 4 })).toMatchObject({ decisions: 4, is_whole: false });
    const from = '2026-02-01T00:00:06.000Z';
    expect(reportOn(sealed, { draft: active, from })).toMatchObject({ decisions: 3, receipts: 9 });
  });
});

type Replayed = { findings: ReplayFindings; details: ReplayDetails };
type Question = { session?: string; limit?: number; draft?: CompiledPolicy; knownPolicy?: CompiledPolicy | null };

function replayOf(
  entries: readonly { receipt: unknown; record?: unknown }[],
  { session, limit = 1000, draft, knownPolicy = active }: Question = {},
): Replayed {
  const times = { from: null, to: null };
  const question = {
    ...{ tenant_id: 'acme' as TenantId, session_id: (session ?? null) as never, ...times, limit }, // by its form
    ...(draft === undefined
      ? { policy: 'recorded' as const, policy_hash: null }
      : { policy: 'draft' as const, policy_hash: draft.hash as never }),
  };
  const policyOfHash = (hash: string) => (hash === knownPolicy?.hash ? knownPolicy : null);
  const under = draft === undefined ? null : { policy: draft, ceilings: [] };
  const replay = new Replay({
    ...{ question, treeSize: 99, draft: under, policyOf: policyOfHash, trust, provider: nodeProvider },
  });
  const isWhole = [...entries].reverse().every((entry) => replay.take(entry));
  const { findings, details } = replay.result({ isWhole });
  return { findings: ReplayFindings.parse(findings), details: ReplayDetails.parse(details) };
}

describe('a replay', () => {
  verifies('cp.replay', 'reproduces each recorded verdict, and identifies no caller and no call', () => {
    fc.assert(
      fc.property(fc.array(call, { maxLength: 40 }), (calls) => {
        const sealed = sealedUnder(active, calls);
        const { findings, details } = replayOf(sealed);
        expect(findings.pairs).toEqual(
          sealed.map(({ receipt: { receipt_hash }, record: { verdict } }) => ({
            ...{ receipt_hash, before: verdict, after: verdict },
          })),
        );
        expect(findings).toMatchObject({ decisions: calls.length, unverifiable: 0, first_difference: null });
        expect(findings.is_narrowed).toBe(false);
        expect([findings.is_whole, details.differences, details.missing]).toEqual([true, [], []]);
        const { replay_hash, ...found } = findings;
        expect(replay_hash).toBe(digestOf(nodeProvider, canonicalBytes(found)));
        expect(replayOf(sealed)).toEqual({ findings, details });
        const text = JSON.stringify(findings);
        for (const word of ['acme', 'agent-', 's-1', 's-2', 's-3', 'files', 'pay', 'mail', 'amount', 'rcp_'])
          expect(text).not.toContain(word);
      }),
      { numRuns: 40 },
    );
  });

  verifies(
    'cp.replay',
    'names the first decision that contradicts its policy, even if a lying kernel signed it',
    () => {
      const calls = ['files.read', 'pay.send', 'mail.send', 'files.read'].map((tool) => ({
        ...{ agent: 'agent-1', session: 's-1', tool, args: { amount: 500 } },
      }));
      const honest = sealedUnder(active, calls.slice(0, 1));
      expect(replayOf(honest).findings.first_difference).toBeNull();
      const anything = policyOf([{ id: 'every', effect: 'allow' }]);
      const sealed = sealedUnder(anything, calls, active);
      const { findings, details } = replayOf(sealed);
      const [first, second] = sealed;
      expect(findings).toMatchObject({ unverifiable: 0, decisions: 4 });
      expect(findings.first_difference).toEqual({
        ...{ place: 0, receipt_hash: first?.receipt.receipt_hash, before: 'ALLOW', after: 'DENY' },
      });
      expect(details.first_difference).toMatchObject({ receipt_id: first?.record.receipt_id, tool: 'files.read' });
      expect(details.differences.map(({ tool }) => tool)).toEqual(calls.map(({ tool }) => tool));
      expect(findings.pairs[1]).toEqual({
        ...{ receipt_hash: second?.receipt.receipt_hash, before: 'ALLOW', after: 'ESCALATE' },
      });
    },
  );

  it('can be limited to a session and a number of decisions, and equals a report under the same draft', () => {
    const sealed = sealedUnder(active, fc.sample(call, { numRuns: 60, seed: 7 }));
    const ofSession = sealed.filter(({ receipt }) => receipt.payload.session_id === 's-2');
    const hashes = ({ findings }: Replayed) => findings.pairs.map(({ receipt_hash }) => receipt_hash);
    const wanted = ofSession.map(({ receipt }) => receipt.receipt_hash);
    expect(hashes(replayOf(sealed, { session: 's-2' }))).toEqual(wanted);
    const short = replayOf(sealed, { session: 's-2', limit: 3 });
    const { is_whole, is_narrowed } = short.findings;
    expect([hashes(short), is_whole, is_narrowed]).toEqual([wanted.slice(-3), false, true]);
    for (const draft of drafts)
      expect(replayOf(sealed, { draft }).findings.matrix).toEqual(reportOn(sealed, { draft }).matrix);
  });

  it('decides nothing from unverified receipts, nor under an unknown policy', () => {
    const sealed = sealedUnder(active, fc.sample(call, { numRuns: 9, seed: 7 }));
    expect(replayOf(sealed, { knownPolicy: null }).details.missing).toEqual([{ field: 'policy', decisions: 9 }]);
    Object.assign(sealed[4]?.record ?? {}, { verdict: 'ALLOW', reason_code: 'ALLOWED', approval_id: 'x' });
    const { findings, details } = replayOf(sealed);
    expect([findings.decisions, findings.unverifiable, findings.first_difference]).toEqual([8, 1, null]);
    expect(details.unverifiable).toHaveLength(1);
  });
});

describe('unverifiable evidence', () => {
  const calls: Call[] = Array.from({ length: 6 }, (_, nth) => ({
    agent: 'a',
    session: `s-${nth % 2}`,
    tool: 'x.y',
    args: {},
  }));
  const sealed = () => sealedUnder(active, calls).map(({ receipt, record }) => ({ receipt, record }));
  const spoiled: [string, (entries: ReturnType<typeof sealed>) => unknown, string][] = [
    [
      'a record with another verdict',
      ([, , { record } = none()]) => Object.assign(record, { verdict: 'ALLOW' }),
      'RECORD_HASH_MISMATCH',
    ],
    [
      'a record of another call',
      (entries) => Object.assign(entries[2] ?? none(), { record: entries[3]?.record }),
      'LINK_MISMATCH',
    ],
    [
      'a receipt of another time',
      ([, , { receipt } = none()]) => Object.assign(receipt.payload, { issued_at: '2026-02-02T00:00:00.000Z' }),
      'HASH_MISMATCH',
    ],
    [
      'a receipt without its record',
      (entries) => Object.assign(entries[2] ?? none(), { record: undefined }),
      'MALFORMED',
    ],
    ['a missing receipt', (entries) => entries.splice(2, 1), 'CHAIN_GAP'],
    ['a receipt that is not an object', (entries) => Object.assign(entries[2] ?? none(), { receipt: 7 }), 'MALFORMED'],
  ];
  it.each(spoiled)('is reported and not decided: %s', (_name, spoil, code) => {
    const entries = sealed();
    spoil(entries);
    const report = reportOn(entries, { draft: policyOf([{ id: 'every', effect: 'allow' }]) });
    expect(report.unverifiable.first[0]?.code).toBe(code);
    expect(report.decisions).toBe(6 - (code === 'CHAIN_GAP' ? 2 : report.unverifiable.count));
  });

  function none(): never {
    throw new Error('there are six');
  }
});
