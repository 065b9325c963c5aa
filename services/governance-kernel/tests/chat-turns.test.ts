import { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '../src/call/governed-call.ts';
import { governAnswer, readAnswer } from '../src/doors/chat/govern-answer.ts';
import { GovernedStream } from '../src/doors/chat/govern-stream.ts';
import { withholdStopped } from '../src/doors/chat/withhold-stopped.ts';

const calls = 50;
const called = { name: 'lookup', arguments: '{"id":"a"}' };
const toolCalls = Array.from({ length: calls }, (_, index) => ({ index, id: `c${index}`, function: called }));
const answer = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', tool_calls: toolCalls } }] });

/** Counts the turns of the event loop until `read` has read all calls and requests their decision. */
async function turnsUntilAsked(read: (ask: () => never) => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  let before = NaN;
  const ask = () => {
    before = turns;
    throw new Error('asked');
  };
  await expect(read(ask).finally(() => (isOver = true))).rejects.toThrow('asked');
  return before;
}

describe('reading calls yields to other requests between any two calls', () => {
  it('of a whole answer', async () => {
    const read = async (judge: () => never) => governAnswer(await readAnswer(Buffer.from(answer), 1), judge);
    expect(await turnsUntilAsked(read)).toBeGreaterThanOrEqual(calls - 1);
  });

  it('of a stream', async () => {
    const chunk = { choices: [{ index: 0, delta: { tool_calls: toolCalls }, finish_reason: 'tool_calls' }] };
    const read = (judge: () => never) => new GovernedStream({ judge, choicesMax: 1 }).chunk(JSON.stringify(chunk));
    expect(await turnsUntilAsked(read)).toBeGreaterThanOrEqual(calls - 1);
  });

  it('of an answer that is replayed', async () => {
    const kept = { status: 200, headers: {}, text: answer };
    const tenant = TenantId.parse('acme');
    const caller = { tenant, principal: PrincipalId.parse('agent') } as Caller; // nothing else is read
    const proposer = { caller, session: SessionId.parse('turns') };
    const read = (refuseStopped: () => never) => withholdStopped({ refuseStopped }, proposer, kept);
    expect(await turnsUntilAsked(read)).toBeGreaterThanOrEqual(calls - 1);
  });
});
