import { describe, expect, it } from '@jest/globals';
import { DecisionReply } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { outputHash } from '@countersign/receipts';
import { dispatches } from '../src/boundary/dispatches.ts';
import { settleAbandoned } from '../src/boundary/settle-abandoned.ts';
import type { BoundaryParts } from '../src/boundary/boundary.ts';
import { budgets } from '../src/budgets/budgets.ts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import type { FenceRow } from '../src/fences/fence-row.ts';
import { put } from '../src/ledger/control.ts';
import { toolBlocks } from '../src/policy/tool-blocks.ts';
import type { ToolResolution } from '../src/registry/tool-resolver.ts';
import { acme, session } from './_batch.ts';
import { newBudget } from './_budget-row.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { decidedMs, governed, latestRecord, loaded, memoryBoundary, saidBy } from './_memory-boundary.ts';
import { ownSession } from '../src/ledger/own-sessions.ts';

const calling = (tool: string | null, more: object = {}): GovernedCall =>
  governed(tool === null ? { ...spawnedAgent({ session }), ...more } : { tool, ...more });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A boundary whose policies are read through this. */
const reading = (current: () => typeof loaded | null, more: Partial<BoundaryParts> = {}) =>
  memoryBoundary({ policies: { current, reload: async () => undefined }, ...more });

describe('the calls of one answer', () => {
  it('are handed over at once and sealed in their order, each tool asked for once', async () => {
    const asked: string[] = [];
    const nobody: ToolResolution = { kind: 'look_alike', serverId: 'files' };
    const resolve = (name: string) => {
      asked.push(name);
      return name === 'files.read' ? Promise.resolve(nobody) : null;
    };
    const tools = { resolve: () => Promise.reject(new Error('not here')), forOneAnswer: () => ({ resolve }) };
    const { boundary, ledger } = memoryBoundary({ tools });
    const names = ['files.read', 'files.list', null, 'files.read', 'pay.send'];
    const decisions = await boundary.forOneAnswer()(names.map((name) => calling(name)));
    expect(decisions.map(saidBy)).toEqual([
      ...['DENY MALFORMED_ARGUMENTS', 'ALLOW ALLOWED', 'ALLOW ALLOWED'],
      ...['DENY MALFORMED_ARGUMENTS', 'ESCALATE APPROVAL_REQUIRED'],
    ]);
    expect([asked, ledger.batches.map(({ entries }) => entries)]).toEqual([
      ['files.read', 'files.list', 'pay.send'],
      [5],
    ]);
    expect(decisions.map(({ reply }) => reply.log_index)).toEqual([0, 1, 2, 3, 4]);
  });

  it('are denied one after the other where no rules are active', async () => {
    const { boundary, ledger } = reading(() => null);
    ledger.rows = [];
    const decisions = await boundary.forOneAnswer()([calling('files.read'), calling('files.list')]);
    expect(decisions.map(saidBy)).toEqual(['DENY POLICY_MISSING', 'DENY POLICY_MISSING']);
  });

  it('wait for one that asks for relations', async () => {
    const relations = { sees: { object: 'file:{args.id}', relation: 'viewer', subject: 'user:{principal}' } };
    const rules = [{ id: 'viewers', effect: 'allow', when: 'relations.sees' }];
    const bundle = { format: 'countersign/policy.v1', name: 'related', version: '1', rules, relations };
    const policy = compilePolicy(parsePolicyBundle(JSON.stringify(bundle)), nodeProvider);
    let waits = 2;
    const held = async () => {
      for (let turns = (waits -= 1); turns > 0; turns -= 1) await turn();
      return { kind: 'unavailable' } as const;
    };
    // Its hash is that of the head: this is about the order alone.
    const related = reading(() => ({ ...loaded, policy }), { relations: { held, reload: async () => undefined } });
    const decisions = await related.boundary.forOneAnswer()(
      ['a', 'b'].map((id) => calling('files.read', { args: { id } })),
    );
    expect(decisions.map(({ reply }) => reply.log_index)).toEqual([0, 1]);
    expect(related.ledger.batches.map(({ entries }) => entries)).toEqual([1, 1]);
  });

  it('leave others their turn after ten milliseconds', async () => {
    const steps = [9, 1, 9, 1, 9];
    const [seen, turns] = [[] as number[], { past: 0, ends: false }];
    const count = () => {
      turns.past += 1;
      if (!turns.ends) setImmediate(count);
    };
    let reads = 0;
    // It is read for the decision, and once more before the next call.
    const { boundary, time } = reading(() => {
      reads += 1;
      if (reads % 2 === 1) seen.push(turns.past);
      else time.risenMs += steps.shift() ?? 0;
      return loaded;
    });
    setImmediate(count);
    await boundary.forOneAnswer()([1, 2, 3, 4, 5].map(() => calling('files.read')));
    turns.ends = true;
    expect(seen.map((past) => past - (seen[0] ?? 0))).toEqual([0, 0, 1, 1, 2]);
  });

  it('are all sealed when one of them is refused', async () => {
    const { boundary, ledger } = memoryBoundary();
    const refused = calling('files.read', { context: { tenant_id: 'other' } });
    const decided = boundary.forOneAnswer()([calling('files.list'), refused, calling('files.read')]);
    await expect(decided).rejects.toMatchObject({ code: 'RESERVED_CONTEXT_KEY' });
    expect(ledger.log.map(({ payload }) => payload.tool)).toEqual(['files.list', 'files.read']);
  });

  it('are not sealed in a session of the kernel itself', async () => {
    const { boundary, ledger } = memoryBoundary();
    const decided = boundary.decide(calling('files.read', { session: ownSession('policy') }));
    await expect(decided).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'session_id' });
    expect(ledger.log).toEqual([]);
  });
});

describe('calls of an answer that were released before', () => {
  const read = calling('files.read');
  const list = calling('files.list');
  const blocks = (...tools: string[]) => put(toolBlocks, { tenant: acme, version: 1, tools, updatedAtMs: 0 });

  it('are refused where they are stopped, at once and in their order; of the others nothing is decided and nothing taken', async () => {
    const [budget, told] = [newBudget({ subject: 'tenant' }), [] as unknown[]];
    const tellDecision: BoundaryParts['tellDecision'] = ({ payload }) => void told.push(payload.tool);
    const { boundary, ledger } = memoryBoundary({ rows: [put(budgets, budget), blocks('files.read')], tellDecision });
    const refusals = await boundary.refuseStopped([list, read, list, read]);
    expect(refusals.map((refusal) => refusal && saidBy(refusal))).toEqual([
      ...[null, 'DENY TOOL_BLOCKED', null, 'DENY TOOL_BLOCKED'],
    ]);
    expect(ledger.log.map(({ payload }) => payload.tool)).toEqual(['files.read', 'files.read']);
    expect([ledger.batches.length, ledger.of(budgets), told]).toEqual([1, [budget], ['files.read', 'files.read']]);
  });

  it('stay released without a stop, whatever the rules would say to a new call', async () => {
    const { boundary, ledger } = memoryBoundary();
    expect(await boundary.refuseStopped([calling('pay.send'), calling('nobody.allows')])).toEqual([null, null]);
    expect(ledger.log).toEqual([]);
  });
});

describe('a decision of a while ago', () => {
  const caller = calling('files.read').caller;
  const fence = (change: Partial<FenceRow> = {}) => ({ kind: 'freeze', expiresAtMs: null, ...change }) as FenceRow; // nothing else is looked at
  async function held(parts: Partial<BoundaryParts> = {}) {
    const asked: unknown[] = [];
    const answers = async (question: unknown) => {
      asked.push(question);
      return false;
    };
    const memory = memoryBoundary({
      ...{ findFencesAround: async (around) => (asked.push(around), []), isRevokedCaller: answers },
      ...{ isWithdrawnTool: answers, ...parts },
    });
    const decision = await memory.boundary.decide(calling('files.read'));
    memory.time.risenMs += 500;
    return { ...memory, asked, late: () => memory.boundary.maySendLate(decision, caller) };
  }

  it('is looked at again from half a second on, as its caller and its tools are now', async () => {
    const { time, late, asked } = await held();
    time.risenMs -= 1;
    expect([late(), asked]).toEqual([null, []]);
    time.risenMs += 1;
    expect(await late()).toBe(true);
    const called = { tenant: 'acme', tools: ['files.read'] };
    expect(asked).toEqual([{ ...called, principal: 'agent' }, caller, called]);
  });

  it.each<[boolean, string, Partial<BoundaryParts>]>([
    [true, 'a throttle stands', { findFencesAround: async () => [fence({ kind: 'throttle' })] }],
    [true, 'a fence is open again', { findFencesAround: async () => [fence({ kind: 'open' })] }],
    [true, 'a fence has ended', { findFencesAround: async () => [fence({ expiresAtMs: decidedMs })] }],
    [false, 'a fence stands', { findFencesAround: async () => [fence()] }],
    [false, 'a fence stands until later', { findFencesAround: async () => [fence({ expiresAtMs: decidedMs + 1 })] }],
    [
      false,
      'a fence stands beside a throttle',
      { findFencesAround: async () => [fence({ kind: 'throttle' }), fence()] },
    ],
    [false, 'its caller was revoked', { isRevokedCaller: async () => true }],
    [false, 'its tool was withdrawn', { isWithdrawnTool: async () => true }],
  ])('may be sent (%s) when %s', async (may, _case, parts) => {
    expect(await (await held(parts)).late()).toBe(may);
  });

  it('is never sent for an answer that was given before', async () => {
    const { boundary } = memoryBoundary();
    const keyed = calling('files.read', { idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
    await boundary.decide(keyed);
    expect(await boundary.maySendLate(await boundary.decide(keyed), caller)).toBe(false);
  });
});

describe('the end of a call that the kernel sent', () => {
  const row = newBudget({ id: 'all', window: 'total', resetsAtMs: null });
  async function sent() {
    const memory = memoryBoundary({ rows: [put(budgets, row)] });
    const decision = await decideAndDie(memory.boundary, spawnedAgent({ session, demand: { spend_micros: 500n } }));
    memory.time.nowMs += 5_000;
    const left = () => memory.ledger.of(budgets).map(({ used, reserved }) => [used, reserved]);
    return { ...memory, decision, left };
  }
  const took = { tool_calls: 1, egress_bytes: 2, writes: 1 };
  const nothing = { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 };
  const issued_at = '2026-11-21T10:00:05.000Z';

  it('is a receipt with the hash of what came out and what was spent', async () => {
    const { boundary, decision, ledger, left } = await sent();
    expect(left()).toEqual([[nothing, { ...took, spend_micros: 500n }]]);
    const receipt = await boundary.settle(decision, { outcome: 'completed', output: 'done', spentMicros: 120n });
    const output_hash = outputHash(nodeProvider, new Uint8Array(32), 'done');
    const decision_receipt_id = decision.reply.receipt_id;
    expect(receipt).toMatchObject({
      payload: {
        kind: 'outcome',
        outcome: 'completed',
        output_hash,
        spend_micros: '120',
        issued_at,
        decision_receipt_id,
      },
      log_index: 1,
    });
    expect([left(), ledger.of(dispatches)]).toEqual([[[{ ...took, spend_micros: 120n }, nothing]], []]);
  });

  it('is the reservation where nothing was counted, and no output where there is none', async () => {
    const { boundary, decision, left } = await sent();
    const { payload } = await boundary.settle(decision, { outcome: 'failed' });
    expect([payload.outcome, payload.spend_micros, 'output_hash' in payload]).toEqual(['failed', '500', false]);
    expect(left()).toEqual([[{ ...took, spend_micros: 500n }, nothing]]);
  });

  it('is uncertain where its process died, and gives back what was held, once', async () => {
    const { parts, decision, ledger, left } = await sent();
    const abandoned = { decided: decision.reply.receipt.payload, held: decision.held };
    expect(await settleAbandoned(parts, abandoned)).toMatchObject({
      payload: { kind: 'outcome', outcome: 'uncertain', spend_micros: '0', issued_at },
      log_index: 1,
    });
    expect([left(), ledger.of(dispatches)]).toEqual([[[nothing, nothing]], []]);
    await expect(settleAbandoned(parts, abandoned)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
  });
});

describe('the reply', () => {
  const money = newBudget({
    id: 'money',
    window: 'total',
    resetsAtMs: null,
    used: { ...newBudget().used, spend_micros: 1n },
  });
  it.each<[string, GovernedCall, object]>([
    ['that allows', calling('files.read'), { allow: true, verdict: 'ALLOW', budget: { tool_calls_remaining: 19 } }],
    [
      'that was only tried',
      calling('files.read', { mode: 'shadow' }),
      { allow: false, verdict: 'ALLOW', shadow: true },
    ],
    ['that denies', calling('other'), { allow: false, verdict: 'DENY', budget: { tool_calls_remaining: 20 } }],
    ['that asks', calling('pay.send'), { allow: false, verdict: 'ESCALATE', reason: 'A "person" decides.' }],
  ])('%s is the same as an object and as text', async (_case, call, told) => {
    const { boundary, ledger } = memoryBoundary({ rows: [put(budgets, money)] });
    const decision = await boundary.decide(call);
    expect(JSON.parse(decision.json)).toEqual(decision.reply);
    expect(DecisionReply.parse(decision.reply)).toEqual(decision.reply);
    expect(decision.reply).toMatchObject({
      ...{ policy_hash: loaded.hash, policy_epoch: 1, log_index: 0, receipt: { log_index: 0 } },
      ...{ budget: { budget_id: 'money', spend_remaining_minor: 19, currency: 'EUR' } },
      ...told,
    });
    expect(['shadow' in decision.reply, 'approval' in decision.reply]).toEqual([
      call.mode === 'shadow',
      decision.reply.verdict === 'ESCALATE',
    ]);
    const { receipt_id, decision_id, reason_code, lamport_clock } = decision.reply;
    expect(decision.headers).toEqual({
      ...{ 'x-gov-decision-id': decision_id, 'x-gov-verdict': decision.reply.verdict },
      ...{ 'x-gov-reason-code': reason_code, 'x-gov-receipt-id': receipt_id },
      ...{ 'x-gov-policy-hash': loaded.hash, 'x-gov-lamport-clock': String(lamport_clock) },
      ...(call.mode === 'shadow' ? { 'x-gov-shadow': 'true' } : {}),
    });
    expect(latestRecord(ledger)['decision_id']).toBe(decision_id);
  });
});

describe('a new decision', () => {
  it('is told of, and one that is told again is not', async () => {
    const told: Parameters<NonNullable<BoundaryParts['tellDecision']>>[0][] = [];
    const { boundary } = memoryBoundary({ tellDecision: (one) => void told.push(one) });
    const keyed = calling('files.read', { idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
    const { reply } = await boundary.decide(keyed);
    await boundary.decide(keyed);
    expect(told).toHaveLength(1);
    expect(told).toMatchObject([{ caller: keyed.caller, payload: reply.receipt.payload, trace: reply.trace }]);
    const [{ startedAtMs, endedAtMs } = { startedAtMs: 0, endedAtMs: 0 }] = told;
    expect([startedAtMs > 0, endedAtMs > startedAtMs]).toEqual([true, true]);
  });
});
