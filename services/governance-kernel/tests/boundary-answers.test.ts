import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { IdempotencyClaim, Log, StoredAnswer } from '@countersign/service-kit';
import { answers } from '../src/boundary/answers.ts';
import { dispatches } from '../src/boundary/dispatches.ts';
import { inTime } from '../src/boundary/in-time.ts';
import { KeptAnswers, type AnswerStore, type KeyedCall } from '../src/boundary/kept-answers.ts';
import { NotSent } from '../src/boundary/not-sent.ts';
import { evaluateAhead, type AskRules } from '../src/boundary/rule-evaluation.ts';
import type { SealedDecision } from '../src/boundary/sealed-decision.ts';
import { acme, agent } from './_batch.ts';

describe('the body of a permitted call', () => {
  const body = Buffer.from('{"a":1}');
  const permit = (may: Promise<boolean> | null) => ({ mayStillSend: () => may });

  it.each([
    ['was decided just now', null],
    ['had to wait and may still be sent', Promise.resolve(true)],
  ])('is read, in bytes, when it %s', async (_case, may) => {
    const sent = inTime(permit(may), body);
    expect(sent.readableObjectMode).toBe(false);
    expect(await text(sent)).toBe('{"a":1}');
  });

  it('is not read when it may not be sent any more, and its caller is told', async () => {
    const sent = inTime(permit(Promise.resolve(false)), body);
    const [error] = (await once(sent.resume(), 'error')) as [Error];
    expect(error).toBeInstanceOf(NotSent);
    expect(error.message).toMatch(/it was not sent$/);
  });
});

describe('rules that are asked ahead', () => {
  const ask = (answer: AskRules) => evaluateAhead(answer, ...([{}, {}] as unknown as [never, never])); // nothing looks at them
  const told = { kind: 'allow', rules: ['reads'], reason: '' };
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

  it.each<[string, AskRules]>([
    ['at once', () => told],
    ['in a moment', async () => told],
  ])('are told with what they say %s', async (_case, answer) => {
    const before = timers();
    const evaluate = await ask(answer);
    expect(evaluate(...([] as unknown as Parameters<typeof evaluate>))).toBe(told);
    expect(timers()).toBe(before);
  });

  it.each<[string, AskRules, RegExp]>([
    ['what they throw', () => fail('broken'), /^broken$/],
    ['what they reject with', async () => fail('broken'), /^broken$/],
    ['that they took too long', () => new Promise(() => undefined), /did not answer in time/],
  ])('are told with %s', async (_case, answer, fault) => {
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
} as SealedDecision; // nothing else is looked at

/** Holds answers by scope and claim, as the table does, and is away when a test says so. */
class MemoryStore implements AnswerStore {
  isAway = false;
  readonly kept = new Map<string, StoredAnswer>();
  readonly freed: unknown[] = [];

  async find(scope: string, { key, fingerprint }: IdempotencyClaim) {
    return this.kept.get([scope, key, fingerprint].join()) ?? null;
  }

  async keep(scope: string, { key, fingerprint }: IdempotencyClaim, given: StoredAnswer) {
    if (this.isAway) throw new Error('away');
    this.kept.set([scope, key, fingerprint].join(), given);
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

  it('is kept beside its decision, under what was called and by whom', async () => {
    await answered.keep(call, answer, log);
    expect([...store.kept]).toEqual([['chat answer acme\nagent,key,print', answer]]);
    expect(await answered.find(call, decision)).toBe(answer);
    store.kept.clear();
    expect(await answered.find(call, decision)).toBeNull(); // it is not held here any more
  });

  it('is held while the store is away, for this very call, and stored when it is back', async () => {
    store.isAway = true;
    await answered.keep(call, answer, log);
    expect(await answered.find(call, decision)).toBe(answer);
    for (const other of [
      { ...call, route: 'mcp' },
      { ...call, caller: { ...call.caller, tenant: 'other' as typeof acme } },
      { ...call, caller: { ...call.caller, principal: 'other' as typeof agent } },
      { ...call, claim: { ...call.claim, key: 'other' } },
      { ...call, claim: { ...call.claim, fingerprint: 'other' } },
    ])
      expect(await answered.find(other, decision)).toBeNull();
    await answered.storeHeld(log);
    expect(store.kept.size).toBe(0);
    store.isAway = false;
    await answered.storeHeld(log);
    expect([...store.kept.values()]).toEqual([answer]);
    expect(await answered.find(call, decision)).toBe(answer);
    expect(logged).toEqual(['answer.not_kept chat', 'answer.not_kept chat']);
  });

  it('may still come as long as the call may run, and is unknown after that', async () => {
    nowMs -= 1;
    await expect(answered.find(call, decision)).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' });
    nowMs += 1;
    expect(await answered.find(call, decision)).toBeNull();
  });

  it('is not waited for when its key is free again; a store that is away keeps the key', async () => {
    await answered.free(call, decision, log);
    expect(store.freed).toEqual([[call, 'dec_1']]);
    store.isAway = true;
    await answered.free(call, decision, log);
    expect([store.freed.length, logged]).toEqual([1, ['key.not_freed chat']]);
  });
});

describe('a kept answer and a call on its way', () => {
  const key = { tenant: acme, principal: agent, route: 'chat', key: 'key' };
  const kept = {
    ...{ tenant_id: 'acme', principal_id: 'agent', route: 'chat', key: 'key', fingerprint: 'print' },
    ...{ ulid: 'ulid', answer: '{', created_at: decidedAt },
  };

  it('stand in their sets under all that names them', () => {
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

  it('are guarded in their own ways', () => {
    const { name, guard, keyColumns } = answers;
    expect({ name, guard, keyColumns }).toEqual({ name: 'answers', guard: 'key', keyColumns: 4 });
    expect([dispatches.name, dispatches.guard, dispatches.keyColumns]).toEqual(['dispatches', 'row', 1]);
  });

  it('are written as they are read', () => {
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
