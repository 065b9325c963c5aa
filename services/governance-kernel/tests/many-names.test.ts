import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callsPerAnswerMax } from '@countersign/contracts/governance-kernel';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const globs = Array.from({ length: 400 }, (_, index) => `*a*${index}*b*.delete_*`);
const rules = globs.map((glob, index) => `  - { id: r${index}, effect: deny, match: { tool: ['${glob}'] } }`);
const policy = `
format: countersign/policy.v1
name: large
version: '1'
rules:
  - { id: all, effect: allow }
${rules.join('\n')}
`;

let upstreams: Upstreams;
beforeAll(async () => {
  upstreams = await startUpstreams();
  await upstreams.test.activate('large', policy);
});
afterAll(() => upstreams.close());

describe('an answer with the maximum number of tool calls', () => {
  it('does not block the event loop while its tool names are matched with many rules', async () => {
    const tools = Array.from({ length: callsPerAnswerMax }, (_, index) => `t${index}`.padEnd(250, 'a1b'));
    const toolCalls = tools.map((name) => ({ id: name, type: 'function', function: { name, arguments: '{}' } }));
    const message = { role: 'assistant', content: null, tool_calls: toolCalls };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    upstreams.model.follow(
      () => (res) =>
        void res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', choices })),
    );
    const turns = countReadsOfPolicy();
    const { choices: answered } = await upstreams
      .openai({ tenant: 'large' })
      .chat.completions.create({ model: 'scripted', messages: [{ role: 'user', content: 'go' }] });
    const { all, mostInTurn } = turns.end();
    expect(answered[0]?.message.tool_calls).toHaveLength(callsPerAnswerMax);
    expect(all).toBeGreaterThanOrEqual(callsPerAnswerMax);
    // If one turn matched all calls, `mostInTurn` would nearly equal `all`.
    expect(mostInTurn).toBeLessThan(all / 2);
  });
});

/** Counts reads of the policy, at least one per call: in total, and at most in one turn of the event loop. */
function countReadsOfPolicy(): { end(): { all: number; mostInTurn: number } } {
  const { policies } = upstreams.test.kernel.context;
  const current = policies.current.bind(policies);
  let [all, inTurn, mostInTurn] = [0, 0, 0];
  policies.current = (tenant) => {
    [all, inTurn] = [all + 1, inTurn + 1];
    mostInTurn = Math.max(mostInTurn, inTurn);
    return current(tenant);
  };
  const nextTurn = () => {
    inTurn = 0;
    turn = setImmediate(nextTurn);
  };
  let turn = setImmediate(nextTurn);
  return {
    end: () => {
      clearImmediate(turn);
      policies.current = current;
      return { all, mostInTurn };
    },
  };
}
