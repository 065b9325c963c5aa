import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createJudge, type Judge } from '../src/index.ts';

let judge: Judge;
beforeEach(() => {
  judge = createJudge({ waitingMax: 1, deadlineMs: 3_000 });
});
afterEach(() => judge.close());
const never = new AbortController().signal;
const of = (text: string) => ({ text, trust: [], expected: {} });
/** So many values that their reading takes more memory than the worker has. */
const huge = `{"a":[${'[[[[[[[[1]]]]]]]],'.repeat(20_000)}1]}`;

describe('a judge', () => {
  it('reports in a thread of its own, one text after the other', async () => {
    const first = await judge.judge(of('no evidence'), never);
    const second = await judge.judge(of(huge), never);
    expect([first, second].map(({ verdict }) => verdict)).toEqual(['NOT_VERIFIED', 'NOT_VERIFIED']);
  });

  it('lets few wait', async () => {
    const waiting = [judge.judge(of('1'), never), judge.judge(of('2'), never)];
    await expect(judge.judge(of('3'), never)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await Promise.all(waiting);
    await expect(judge.judge(of('4'), never)).resolves.toMatchObject({ verdict: 'NOT_VERIFIED' });
  });

  it('ends what takes too long, and verifies the next text', async () => {
    const late = createJudge({ deadlineMs: 0 });
    await expect(late.judge(of(huge), never)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await late.close();
    const gone = new AbortController();
    const left = judge.judge(of(huge), gone.signal);
    gone.abort();
    await expect(left).rejects.toBeDefined();
    await expect(judge.judge(of('1'), never)).resolves.toMatchObject({ verdict: 'NOT_VERIFIED' });
  });
});
