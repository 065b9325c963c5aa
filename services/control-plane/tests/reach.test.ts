import { describe, expect, it } from '@jest/globals';
import { OpsTarget, type PlanStep } from '@countersign/contracts/control-plane';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { Reach } from '../src/blast-radius/reach.ts';

const ulid = (n: number) => String(n).padStart(26, '0');
const run = `run_${ulid(1)}`;
const base = Date.parse('2026-11-20T12:00:00.000Z');

type Made = {
  principal?: string;
  tool?: string | null;
  session?: string;
  verdict?: string;
  approval?: string | null;
  action?: string;
  kind?: string;
  by?: string;
  server?: string | null;
  shadow?: boolean;
  atMs?: number;
  outcomeOf?: number;
};

/** An entry as the kernel seals it, limited to the members that matter here. */
function entry(n: number, made: Made) {
  const { principal = 'bob', tool = 'crm.read', session = 's-1', verdict = 'ALLOW', approval = null } = made;
  const { action = 'tool.call', kind = 'decision', by = 'caller', server = null, shadow = false } = made;
  const payload = {
    ...{ receipt_id: `rcp_${ulid(n)}`, decision_id: `dec_${ulid(n)}`, principal_id: principal, session_id: session },
    ...{ kind, action, tool, shadow, verdict, issued_at: new Date(base + (made.atMs ?? n * 1_000)).toISOString() },
    ...(made.outcomeOf === undefined ? {} : { decision_receipt_id: `rcp_${ulid(made.outcomeOf)}` }),
  };
  const record = { verdict, approval_id: approval, dispatched_by: by, mcp_server_id: server };
  return {
    payload: payload as unknown as ReceiptPayload, // the members that are read
    record: kind === 'outcome' ? null : (record as unknown as BoundaryRecord),
  };
}

const stop = (target: string, more: object = {}) =>
  ({ kind: 'freeze', target: OpsTarget.parse(target), reason: 'x', ...more }) as PlanStep; // the members of the schema
const apr = (n: number) => `apr_${ulid(n)}`;

/** The reach over these entries, oldest first. */
function reached(steps: PlanStep[], entries: ReturnType<typeof entry>[]) {
  const reach = new Reach(steps);
  for (const one of entries.toReversed()) reach.take(one);
  return reach;
}

describe('the reach of stops', () => {
  it('contains only calls within the targets', () => {
    const entries = [
      entry(1, { principal: 'alice', tool: 'crm.read', session: 'a' }),
      entry(2, { principal: 'bob', tool: 'notes.read', session: 'b', server: 'notes' }),
      entry(3, { principal: 'bob', tool: 'crm.list', session: 'c' }),
      entry(4, { principal: 'carol', tool: 'CRM__Read', session: 'd', verdict: 'DENY' }),
      entry(5, { principal: 'dan', tool: 'crm.read', session: 'e', shadow: true }),
      entry(6, { principal: 'owner', tool: null, session: 'console:plan', action: 'plan.commit' }),
    ];
    const reach = reached([stop('tool:crm.read'), stop('connector:notes')], entries);
    expect(reach.affected(new Set())).toMatchObject({
      agents: ['alice', 'bob', 'carol'],
      sessions: ['a', 'b', 'd'],
      tools: ['CRM__Read', 'crm.read', 'notes.read'],
      connectors: ['notes'],
    });
    // A call that was denied anyway does not count as denied by the stop.
    expect(reach.denials).toEqual({ count: 2, first: [2, 1].map((n) => `rcp_${ulid(n)}`) });
    expect(reached([stop('workspace:w')], entries).affected(new Set()).agents).toEqual(['alice', 'bob', 'carol']);
  });

  it('contains approvals from request to end, and calls from dispatch to outcome', () => {
    const asks = { principal: 'bob', session: run, verdict: 'ESCALATE' };
    const entries = [
      ...[1, 2, 3, 4, 5].map((n) => entry(n, { ...asks, approval: apr(n) })),
      entry(6, { kind: 'approval', action: 'approval.request', approval: apr(6), session: run, verdict: 'ESCALATE' }),
      entry(7, { kind: 'approval', action: 'approval.deny', approval: apr(1), principal: 'ann', verdict: 'DENY' }),
      entry(8, { kind: 'approval', action: 'approval.expire', approval: apr(2), principal: 'kernel', verdict: 'DENY' }),
      entry(9, { kind: 'approval', action: 'approval.revoke', approval: apr(3), principal: 'ann', verdict: 'DENY' }),
      entry(10, { kind: 'approval', action: 'approval.approve', approval: apr(4), principal: 'ann' }),
      entry(11, { session: run, approval: apr(5), by: 'kernel' }),
      entry(12, { session: 's-9', by: 'kernel' }),
      entry(13, { kind: 'outcome', outcomeOf: 12 }),
    ];
    const reach = reached([stop('agent:bob')], entries);
    expect(reach.usedApprovals).toEqual([apr(5)]);
    expect(reach.affected(new Set())).toMatchObject({ approvals: [4, 5, 6].map(apr), dispatches: [`dec_${ulid(11)}`] });
    const used = reach.affected(new Set(reach.usedApprovals));
    expect(used).toMatchObject({ approvals: [apr(4), apr(6)], runs: [run], agents: ['bob'] });
    expect(reached([stop('agent:ann')], entries).affected(new Set())).toMatchObject({ approvals: [], dispatches: [] });
  });

  it('counts, for a throttle, the calls above its limit in each window of the clock', () => {
    const entries = [0, 10, 20, 59, 60, 61, 119, 120].map((second, n) => entry(n, { atMs: second * 1_000 }));
    const throttle = (limit: number) => stop('agent:bob', { kind: 'throttle', limit, window_seconds: 60 });
    expect([0, 1, 3, 4].map((limit) => reached([throttle(limit)], entries).denials.count)).toEqual([8, 5, 1, 0]);
    const both = [throttle(1), stop('tool:crm.read')];
    expect(reached(both, entries).denials.count).toBe(8);
  });
});
