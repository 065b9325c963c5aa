import { describe, expect, it } from '@jest/globals';
import { DecisionReply } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { outputHash } from '@countersign/receipts';
import { dispatches } from '../src/decision/dispatches.ts';
import { settleAbandoned } from '../src/decision/settle-abandoned.ts';
import type { BoundaryDeps } from '../src/decision/boundary.ts';
import { budgets } from '../src/controls/budgets/budgets.ts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import type { FenceRow } from '../src/controls/fences/fence-row.ts';
import { put } from '../src/ledger/control.ts';
import { toolBlocks } from '../src/controls/policy/tool-blocks.ts';
import type { ToolResolution } from '../src/registry/tool-resolver.ts';
import { acme, session } from './_batch.ts';
import { newBudget } from './_budget-row.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { decidedMs, governed, latestRecord, loaded, memoryBoundary, saidBy } from './_memory-boundary.ts';
import { ownSession } from '../src/ledger/own-sessions.ts';

const calling = (tool: string | null, more: object = {}): GovernedCall =>
  governed(tool === null ? { ...spawnedAgent({ session }), ...more } : { tool, ...more });
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A boundary that reads its policies with `current`. */
const reading = (current: () => typeof loaded | null, more: Partial<BoundaryDeps> = {}) =>
  memoryBoundary({ policies: { current, reload: async () => undefined }, ...more });

describe('the calls of one answer', () => {
  it('are submitted at once and sealed in order, with one lookup per tool', async () => {
    const requests: string[] = [];
    const nobody: ToolResolution = { kind: 'look_alike', serverId: 'files' };
    const resolve = (name: string) => {
      requests.push(name);
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
    expect([requests, ledger.batches.map(({ entries }) => entries)]).toEqual([
      ['files.read', 'files.list', 'pay.send'],
      [5],
    ]);
    expect(decisions.map(({ reply }) => reply.log_index)).toEqual([0, 1, 2, 3, 4]);
  });

  it('are each denied without active rules', async () => {
    const { boundary, ledger } = reading(() => null);
    ledger.rows = [];
    const decisions = await boundary.forOneAnswer()([calling('files.read'), calling('files.list')]);
    expect(decisions.map(saidBy)).toEqual(['DENY POLICY_MISSING', 'DENY POLICY_MISSING']);
  });

  it('are sealed in order, although the relations of the first are read later', async () => {
    const relations = { sees: { object: 'file:{args.id}', relation: 'viewer', subject: 'user:{principal}' } };
    const rules = [{ id: 'viewers', effect: 'allow', when: 'relations.sees' }];
    const bundle = { format: 'countersign/policy.v1', name: 'related', version: '1', rules, relations };
    const policy = compilePolicy(parsePolicyBundle(JSON.stringify(bundle)), nodeProvider);
    let waits = 2;
    const reservedBy = async () => {
      for (let turns = (waits -= 1); turns > 0; turns -= 1) await turn();
      return { kind: 'unavailable' } as const;
    };
    // The loaded bundle keeps its old hash, although its policy is replaced. This test checks only the order of
    // decisions.
    const related = reading(() => ({ ...loaded, policy }), {
      relations: { snapshot: reservedBy, reload: async () => undefined },
    });
    const decisions = await related.boundary.forOneAnswer()(
      ['a', 'b'].map((id) => calling('files.read', { args: { id } })),
    );
    expect(decisions.map(({ reply }) => reply.log_index)).toEqual([0, 1]);
    expect(related.ledger.batches.map(({ entries }) => entries)).toEqual([1, 1]);
  });

  it('yield to other work after ten milliseconds', async () => {
    const steps = [9, 1, 9, 1, 9];
    const [seen, turns] = [[] as number[], { past: 0, ends: false }];
    const count = () => {
      turns.past += 1;
      if (!turns.ends) setImmediate(count);
    };
    let reads = 0;
    // The policy is read for each decision, and once more before the next call.
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

  it('are sealed except for one that is refused', async () => {
    const { boundary, ledger } = memoryBoundary();
    const refused = calling('files.read', { context: { tenant_id: 'other' } });
    const decided = boundary.forOneAnswer()([calling('files.list'), refused, calling('files.read')]);
    await expect(decided).rejects.toMatchObject({ code: 'RESERVED_CONTEXT_KEY' });
    expect(ledger.log.map(({ payload }) => payload.tool)).toEqual(['files.list', 'files.read']);
  });

  it('are not sealed in a session that is reserved for the kernel', async () => {
    const { boundary, ledger } = memoryBoundary();
    const decided = boundary.decide(calling('files.read', { session: ownSession('policy') }));
    await expect(decided).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'session_id' });
    expect(ledger.log).toEqual([]);
  });
});

describe('calls of a model answer that were already released', () => {
  const read = calling('files.read');
  const list = calling('files.list');
  const blocks = (...tools: string[]) => put(toolBlocks, { tenant: acme, version: 1, tools, updatedAtMs: 0 });

  it('are refused in order if they are stopped; the others are not decided and use no budget', async () => {
    const [budget, message] = [newBudget({ subject: 'tenant' }), [] as unknown[]];
    const tellDecision: BoundaryDeps['tellDecision'] = ({ payload }) => void message.push(payload.tool);
    const { boundary, ledger } = memoryBoundary({ rows: [put(budgets, budget), blocks('files.read')], tellDecision });
    const refusals = await boundary.refuseStopped([list, read, list, read]);
    expect(refusals.map((refusal) => refusal && saidBy(refusal))).toEqual([
      ...[null, 'DENY TOOL_BLOCKED', null, 'DENY TOOL_BLOCKED'],
    ]);
    expect(ledger.log.map(({ payload }) => payload.tool)).toEqual(['files.read', 'files.read']);
    expect([ledger.batches.length, ledger.of(budgets), message]).toEqual([1, [budget], ['files.read', 'files.read']]);
  });

  it('stay released without a stop, whatever the rules state for a new call', async () => {
    const { boundary, ledger } = memoryBoundary();
    expect(await boundary.refuseStopped([calling('pay.send'), calling('nobody.allows')])).toEqual([null, null]);
    expect(ledger.log).toEqual([]);
  });
});

describe('a decision that was made earlier', () => {
  const caller = calling('files.read').caller;
  const fence = (change: Partial<FenceRow> = {}) => ({ kind: 'freeze', expiresAtMs: null, ...change }) as FenceRow; // nothing else is read
  async function reservedBy(deps: Partial<BoundaryDeps> = {}) {
    const requests: unknown[] = [];
    const answers = async (question: unknown) => {
      requests.push(question);
      return false;
    };
    const memory = memoryBoundary({
      ...{ findFencesAround: async (around) => (requests.push(around), []), isRevokedCaller: answers },
      ...{ isWithdrawnTool: answers, ...deps },
    });
    const decision = await memory.boundary.decide(calling('files.read'));
    memory.time.risenMs += 500;
    return { ...memory, asked: requests, late: () => memory.boundary.maySendLate(decision, caller) };
  }

  it('is checked again after half a second, with the current caller and tools', async () => {
    const { time, late, asked } = await reservedBy();
    time.risenMs -= 1;
    expect([late(), asked]).toEqual([null, []]);
    time.risenMs += 1;
    expect(await late()).toBe(true);
    const called = { tenant: 'acme', tools: ['files.read'] };
    expect(asked).toEqual([{ ...called, principal: 'agent' }, caller, called]);
  });

  it.each<[boolean, string, Partial<BoundaryDeps>]>([
    [true, 'a throttle is in force', { findFencesAround: async () => [fence({ kind: 'throttle' })] }],
    [true, 'a fence is open again', { findFencesAround: async () => [fence({ kind: 'open' })] }],
    [true, 'a fence has ended', { findFencesAround: async () => [fence({ expiresAtMs: decidedMs })] }],
    [false, 'a fence is in force', { findFencesAround: async () => [fence()] }],
    [false, 'a fence has not ended', { findFencesAround: async () => [fence({ expiresAtMs: decidedMs + 1 })] }],
    [
      false,
      'a freeze is in force in addition to a throttle',
      { findFencesAround: async () => [fence({ kind: 'throttle' }), fence()] },
    ],
    [false, 'its caller was revoked', { isRevokedCaller: async () => true }],
    [false, 'its tool was withdrawn', { isWithdrawnTool: async () => true }],
  ])('may be sent (%s) when %s', async (may, _case, deps) => {
    expect(await (await reservedBy(deps)).late()).toBe(may);
  });

  it('may not be sent when it is the replay of a stored answer', async () => {
    const { boundary } = memoryBoundary();
    const keyed = calling('files.read', { idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
    await boundary.decide(keyed);
    expect(await boundary.maySendLate(await boundary.decide(keyed), caller)).toBe(false);
  });
});

describe('the outcome of a call that the kernel sent', () => {
  const row = newBudget({ id: 'all', window: 'total', resetsAtMs: null });
  async function sent() {
    const memory = memoryBoundary({ rows: [put(budgets, row)] });
    const decision = await decideAndDie(memory.boundary, spawnedAgent({ session, demand: { spend_micros: 500n } }));
    memory.time.nowMs += 5_000;
    const remaining = () => memory.ledger.of(budgets).map(({ used, reserved }) => [used, reserved]);
    return { ...memory, decision, left: remaining };
  }
  const took = { tool_calls: 1, egress_bytes: 2, writes: 1 };
  const nothing = { tool_calls: 0, spend_micros: 0n, egress_bytes: 0, writes: 0 };
  const issued_at = '2026-11-21T10:00:05.000Z';

  it('is a receipt with the hash of the output and the spend', async () => {
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

  it('spends the reservation when no spend was measured, and has no output hash without an output', async () => {
    const { boundary, decision, left } = await sent();
    const { payload } = await boundary.settle(decision, { outcome: 'failed' });
    expect([payload.outcome, payload.spend_micros, 'output_hash' in payload]).toEqual(['failed', '500', false]);
    expect(left()).toEqual([[{ ...took, spend_micros: 500n }, nothing]]);
  });

  it('is uncertain when its process died, and releases its reservation once', async () => {
    const { parts, decision, ledger, left } = await sent();
    const abandoned = { decided: decision.reply.receipt.payload, reserved: decision.reserved };
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
    [
      'to an allowed call',
      calling('files.read'),
      { allow: true, verdict: 'ALLOW', budget: { tool_calls_remaining: 19 } },
    ],
    ['to a shadow call', calling('files.read', { mode: 'shadow' }), { allow: false, verdict: 'ALLOW', shadow: true }],
    ['to a denied call', calling('other'), { allow: false, verdict: 'DENY', budget: { tool_calls_remaining: 20 } }],
    ['to an escalated call', calling('pay.send'), { allow: false, verdict: 'ESCALATE', reason: 'A "person" decides.' }],
  ])('%s is the same as an object and as text', async (_case, call, report) => {
    const { boundary, ledger } = memoryBoundary({ rows: [put(budgets, money)] });
    const decision = await boundary.decide(call);
    expect(JSON.parse(decision.json)).toEqual(decision.reply);
    expect(DecisionReply.parse(decision.reply)).toEqual(decision.reply);
    expect(decision.reply).toMatchObject({
      ...{ policy_hash: loaded.hash, policy_epoch: 1, log_index: 0, receipt: { log_index: 0 } },
      ...{ budget: { budget_id: 'money', spend_remaining_minor: 19, currency: 'EUR' } },
      ...report,
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
  it('is reported to telemetry once, and its replays are not', async () => {
    const messages: Parameters<NonNullable<BoundaryDeps['tellDecision']>>[0][] = [];
    const { boundary } = memoryBoundary({ tellDecision: (one) => void messages.push(one) });
    const keyed = calling('files.read', { idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
    const { reply } = await boundary.decide(keyed);
    await boundary.decide(keyed);
    expect(messages).toHaveLength(1);
    expect(messages).toMatchObject([{ caller: keyed.caller, payload: reply.receipt.payload, trace: reply.trace }]);
    const [{ startedAtMs, endedAtMs } = { startedAtMs: 0, endedAtMs: 0 }] = messages;
    expect([startedAtMs > 0, endedAtMs > startedAtMs]).toEqual([true, true]);
  });
});
