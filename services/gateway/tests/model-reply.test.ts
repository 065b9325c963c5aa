import { describe, expect, it } from '@jest/globals';
import { modelReplyOf } from '../src/governance/model-reply.ts';

const call = (id: string | null, n: number) => ({
  id,
  type: 'function',
  function: { name: 'files__write', arguments: JSON.stringify({ n }) },
});
const decision = (verdict: string) => ({
  tool: 'files.write',
  tool_call_id: 'call_0',
  verdict,
  decision_id: 'dec',
  receipt_id: 'rcp',
});

function callsIn(calls: object[], verdicts?: string[]) {
  const countersign = verdicts === undefined ? {} : { countersign: { decisions: verdicts.map(decision) } };
  const message = { content: null, tool_calls: calls, ...countersign };
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  return modelReplyOf({ choices: [{ message }], usage }, new Headers()).message.tool_calls ?? [];
}

describe('the calls in the answer of a model', () => {
  it('are the released and the withheld ones in order, whatever ids the model chose', () => {
    const calls = callsIn([call('call_0', 1), call('call_0', 2)], ['ALLOW', 'DENY', 'ALLOW']);
    expect(calls.map((one) => [one.function.arguments, one.withheld !== undefined])).toEqual([
      ['{"n":1}', false],
      ['{}', true],
      ['{"n":2}', false],
    ]);
  });

  it('have unique ids, also where the model sent none or a duplicate', () => {
    const ids = callsIn([call('call_1', 1), call('call_1', 2), call(null, 3), call('call_2', 4), call('', 5)]).map(
      ({ id }) => id,
    );
    expect(new Set(ids).size).toBe(5);
    expect(ids[0]).toBe('call_1');
  });

  it.each([
    ['more than it allowed', ['ALLOW']],
    ['fewer than it allowed', ['ALLOW', 'ALLOW', 'ALLOW']],
    ['calls that it did not decide', []],
  ])('are not believed when the kernel released %s', (_what, verdicts) => {
    expect(() => callsIn([call('a', 1), call('b', 2)], verdicts)).toThrow(
      expect.objectContaining({ code: 'GOVERNANCE_MALFORMED' }),
    );
  });
});

describe('the answer of a model', () => {
  it.each<[string, object]>([
    ['an empty finish reason', { finish_reason: '' }],
    ['no finish reason', {}],
    ['an unknown finish reason', { finish_reason: 'end_turn', native_finish_reason: 'end' }],
  ])('can be parsed with %s and with reasoning tokens in its usage', (_what, end) => {
    const details = { completion_tokens_details: { reasoning_tokens: 60_000 }, cost: 0.1 };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 60_015, ...details };
    const message = { role: 'assistant', content: 'Hi' };
    const headers = new Headers({ 'x-gov-spend-micros': '90010500' });
    const reply = modelReplyOf({ choices: [{ index: 0, message, ...end }], usage }, headers);
    expect(reply).toMatchObject({ message: { content: 'Hi' }, usage: { input: 10, output: 5 } });
    expect(String(reply.spendMicros)).toBe('90010500');
  });
});
