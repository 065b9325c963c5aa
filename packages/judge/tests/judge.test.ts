import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createJudge, type Judge } from '../src/index.ts';

let judge: Judge;
beforeEach(() => {
  judge = createJudge({ waitingMax: { ofCaller: 1, ofAll: 2 }, deadlineMs: 60_000 });
});
afterEach(() => judge.close());
const { signal } = new AbortController();
const never = { name: 'one', signal };
const named = (name: string) => ({ name, signal });
const of = (text: string) => ({ text, trust: [], expected: {} });
/** A text with nearly as many values as a line may have, so that parsing it takes long. */
const huge = `{"a":[${'[[[[[[[[1]]]]]]]],'.repeat(20_000)}1]}`;

describe('a judge', () => {
  it('reports from its own thread, one text after the other', async () => {
    const first = await judge.judge(of('no evidence'), never);
    const second = await judge.judge(of(huge), never);
    expect([first, second].map(({ verdict }) => verdict)).toEqual(['NOT_VERIFIED', 'NOT_VERIFIED']);
  });

  it('lets callers take turns, and limits the waiting texts of one caller and in total', async () => {
    const order: string[] = [];
    const judged = (caller: string) => judge.judge(of('1'), named(caller)).then(() => order.push(caller));
    const waiting = [judged('one'), judged('one')];
    await expect(judged('one')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    waiting.push(judged('two'));
    await expect(judged('three')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await Promise.all(waiting);
    expect(order).toEqual(['one', 'one', 'two']);
    await expect(judge.judge(of('4'), never)).resolves.toMatchObject({ verdict: 'NOT_VERIFIED' });
  });

  it('delays a caller by only one text of a caller who has many', async () => {
    const fair = createJudge({ waitingMax: { ofCaller: 4, ofAll: 8 }, deadlineMs: 60_000 });
    const order: string[] = [];
    const judged = (caller: string) => fair.judge(of('1'), named(caller)).then(() => order.push(caller));
    await Promise.all([judged('one'), judged('one'), judged('one'), judged('one'), judged('two')]);
    await fair.close();
    expect(order).toEqual(['one', 'one', 'two', 'one', 'one']);
  });

  it('stops a verification that takes too long or whose caller has left, and then verifies the next text', async () => {
    const late = createJudge({ deadlineMs: 0 });
    await expect(late.judge(of(huge), never)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await late.close();
    const gone = new AbortController();
    const aborted = judge.judge(of(huge), { name: 'one', signal: gone.signal });
    gone.abort();
    await expect(aborted).rejects.toBeDefined();
    await expect(judge.judge(of('1'), never)).resolves.toMatchObject({ verdict: 'NOT_VERIFIED' });
  });
});
