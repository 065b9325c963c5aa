import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { IdempotencyClaim, Log, StoredAnswer } from '@countersign/service-kit';
import { answers } from '../src/decision/answers.ts';
import { dispatches } from '../src/decision/dispatches.ts';
import { inTime } from '../src/decision/in-time.ts';
import { KeptAnswers, type AnswerStore, type KeyedCall } from '../src/decision/kept-answers.ts';
import { NotSent } from '../src/decision/not-sent.ts';
import { evaluateAhead, type AskRules } from '../src/decision/rule-evaluation.ts';
import type { SealedDecision } from '../src/decision/sealed-decision.ts';
import { acme, agent } from './_batch.ts';

describe('the body of a permitted call', () => {
  const body = Buffer.from('{"a":1}');
  const permit = (may: Promise<boolean> | null) => ({ mayStillSend: () => may });

  it.each([
    ['was decided just now', null],
    ['had to wait and may still be sent', Promise.resolve(true)],
  ])('is sent as bytes when the call %s', async (_case, may) => {
    const sent = inTime(permit(may), body);
    expect(sent.readableObjectMode).toBe(false);
    expect(await text(sent)).toBe('{"a":1}');
  });

  it('is replaced by an error when the call may no longer be sent', async () => {
    const sent = inTime(permit(Promise.resolve(false)), body);
    const [error] = (await once(sent.resume(), 'error')) as [Error];
    expect(error).toBeInstanceOf(NotSent);
    expect(error.message).toMatch(/^The call was delayed and not sent: in the meantime/);
  });
});

describe('rules that are evaluated before the batch', () => {
  const ask = (answer: AskRules) => evaluateAhead(answer, ...([{}, {}] as unknown as [never, never])); // both are unread
  const report = { kind: 'allow', rules: ['reads'], reason: '' };
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it.each<[string, AskRules]>([
    ['immediately', () => report],
    ['asynchronously', async () => report],
  ])('return their outcome %s', async (_case, answer) => {
    const before = timers();
    const evaluate = await ask(answer);
    expect(evaluate(...([] as unknown as Parameters<typeof evaluate>))).toBe(report);
    expect(timers()).toBe(before);
  });

  it.each<[string, AskRules, RegExp]>([
    ['the error that they throw', () => fail('broken'), /^broken$/],
    ['the error that they reject with', async () => fail('broken'), /^broken$/],
    ['an error after a timeout', () => new Promise(() => undefined), /did not answer in time/],
  ])('return %s', async (_case, answer, fault) => {
    const evaluate = await ask(answer);
    expect(() => evaluate(...([] as unknown as Parameters<typeof evaluate>))).toThrow(fault);
  });
});

function fail(fault: string): never {
  throw new Error(fault);
}

const decidedAt = '2026-11-21T10:00:00.000Z';
const runningMsMax = 5_000;
const call: KeyedCall = {
  ...{ caller: { tenant: acme, principal: agent }, route: 'chat', runningMsMax },
  claim: { key: 'key', fingerprint: 'print' },
};
const answer: StoredAnswer = { status: 200, headers: {}, text: 'bought' };
const decision = {
  reply: { decision_id: 'dec_1', receipt: { payload: { issued_at: decidedAt } } } as unknown as DecisionReply,
} as SealedDecision; // nothing else is read

/** Stores answers by scope and claim, as the table does. Its writes fail while `isAway` is true. */
class MemoryStore implements AnswerStore {
  isAway = false;
  readonly kept = new Map<string, StoredAnswer>();
  readonly freed: unknown[] = [];

  async find(scope: string, { key, fingerprint }: IdempotencyClaim) {
    return this.kept.get([scope, key, fingerprint].join()) ?? null;
  }

  async keep(scope: string, { key, fingerprint }: IdempotencyClaim, storedAnswer: StoredAnswer) {
    if (this.isAway) throw new Error('away');
    this.kept.set([scope, key, fingerprint].join(), storedAnswer);
  }

  async free(freed: KeyedCall, decisionId: string) {
    if (this.isAway) throw new Error('away');
    this.freed.push([freed, decisionId]);
  }
}

describe('the answer of a keyed call', () => {
  let store: MemoryStore;
  let nowMs: number;
  let logged: string[];
  let answered: KeptAnswers;
  const log = {
    error: (event: string, { route }: { route: string }) => void logged.push(`${event} ${route}`),
  } as unknown as Log;
  beforeEach(() => {
    store = new MemoryStore();
    nowMs = Date.parse(decidedAt) + runningMsMax;
    logged = [];
    answered = new KeptAnswers({ store, clock: () => new Date(nowMs) });
  });

  it('is stored separately from its decision, under its call and caller', async () => {
    await answered.keep(call, answer, log);
    expect([...store.kept]).toEqual([['chat answer acme\nagent,key,print', answer]]);
    expect(await answered.find(call, decision)).toBe(answer);
    store.kept.clear();
    expect(await answered.find(call, decision)).toBeNull(); // a stored answer is no longer kept in memory
  });

  it('is kept in memory, for this call only, while the store is unavailable, and is stored later', async () => {
    store.isAway = true;
    await answered.keep(call, answer, log);
    expect(await answered.find(call, decision)).toBe(answer);
    for (const second of [
      { ...call, route: 'mcp' },
      { ...call, caller: { ...call.caller, tenant: 'other' as typeof acme } },
      { ...call, caller: { ...call.caller, principal: 'other' as typeof agent } },
      { ...call, claim: { ...call.claim, key: 'other' } },
      { ...call, claim: { ...call.claim, fingerprint: 'other' } },
    ])
      expect(await answered.find(second, decision)).toBeNull();
    await answered.storeHeld(log);
    expect(store.kept.size).toBe(0);
    store.isAway = false;
    await answered.storeHeld(log);
    expect([...store.kept.values()]).toEqual([answer]);
    expect(await answered.find(call, decision)).toBe(answer);
    expect(logged).toEqual(['answer.not_kept chat', 'answer.not_kept chat']);
  });

  it('may still arrive while the call may run, and is unknown after that', async () => {
    nowMs -= 1;
    await expect(answered.find(call, decision)).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' });
    nowMs += 1;
    expect(await answered.find(call, decision)).toBeNull();
  });

  it('can have its key freed, and a failure to free the key is logged', async () => {
    await answered.free(call, decision, log);
    expect(store.freed).toEqual([[call, 'dec_1']]);
    store.isAway = true;
    await answered.free(call, decision, log);
    expect([store.freed.length, logged]).toEqual([1, ['key.not_freed chat']]);
  });
});

describe('a stored answer and a call in progress', () => {
  const key = { tenant: acme, principal: agent, route: 'chat', key: 'key' };
  const kept = {
    ...{ tenant_id: 'acme', principal_id: 'agent', route: 'chat', key: 'key', fingerprint: 'print' },
    ...{ ulid: 'ulid', answer: '{', created_at: decidedAt },
  };

  it('are found by the keys that identify them', () => {
    const row = answers.rowOf({ ...kept, log_index: 7 });
    const { fingerprint, ulid, answer: open } = row;
    expect({ fingerprint, ulid, open, at: row.createdAtMs, place: row.place }).toEqual({
      ...{ fingerprint: 'print', ulid: 'ulid', open: '{', at: Date.parse(decidedAt), place: 7 },
    });
    const name = 'acme\nagent\nchat\nkey';
    expect([answers.keyText(key), answers.idOf(row), answers.setsOf(row)]).toEqual([name, name, [name]]);
    expect(answers.keyValues(key)).toEqual(['acme', 'agent', 'chat', 'key']);
    expect(answers.stored?.(row)).toEqual(kept);
    const pending = { ...kept, ulid: null, answer: null, log_index: null };
    expect(answers.rowOf(pending)).toMatchObject({ ulid: null, answer: null, place: null });
  });

  it('have different guards: the key and the row', () => {
    const { name, guard, keyColumns } = answers;
    expect({ name, guard, keyColumns }).toEqual({ name: 'answers', guard: 'key', keyColumns: 4 });
    expect([dispatches.name, dispatches.guard, dispatches.keyColumns]).toEqual(['dispatches', 'row', 1]);
  });

  it('are read back as they were written', () => {
    const stored = { ulid: 'ulid', tenant_id: 'acme', tools: ['a.b'], reservations: [], deadline_at: decidedAt };
    const row = dispatches.rowOf(stored);
    expect(row).toEqual({
      ...{ ulid: 'ulid', tenant: 'acme', tools: ['a.b'], reservations: [], deadlineAtMs: Date.parse(decidedAt) },
    });
    expect(dispatches.stored?.(row)).toEqual(stored);
    expect([dispatches.keyText('ulid'), dispatches.idOf(row)]).toEqual(['ulid', 'ulid']);
    expect([dispatches.keyValues('ulid'), dispatches.setsOf(row)]).toEqual([['ulid'], ['ulid']]);
  });
});
