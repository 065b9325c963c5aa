import { describe, expect, it } from '@jest/globals';
import { sharedLookups } from '../src/doors/mcp/shared-lookups.ts';

const tool = { serverId: 'notes', toolName: 'read_note' };
const second = { serverId: 'notes', toolName: 'write_note' };

/** A registry that answers when the test calls `answer` or `fail`. */
function slowRegistry(ageMaxMs = 0) {
  const clock = { nowMs: 0 };
  const requests: { toolName: string; answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  const find = sharedLookups(
    ({ toolName }: typeof tool) =>
      new Promise<string>((answer, fail) => {
        requests.push({ toolName, answer, fail });
      }),
    { keeps: (found) => found !== 'revoked', ageMaxMs, now: () => clock.nowMs },
  );
  return { asked: requests, find, clock };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('lookups of one tool', () => {
  it('that are requested while another runs share one new lookup, which starts afterwards', async () => {
    const { asked, find } = slowRegistry();
    const first = find(tool);
    const later = Promise.all([find(tool), find(tool), find(tool)]);
    expect(asked).toHaveLength(1);
    asked[0]?.answer('old');
    expect(await first).toBe('old');
    await settled();
    expect(asked).toHaveLength(2);
    asked[1]?.answer('new');
    expect(await later).toEqual(['new', 'new', 'new']);
  });

  it('are not cached when the maximum age is zero', async () => {
    const { asked, find } = slowRegistry();
    for (const turn of ['a', 'b']) {
      const found = find(tool);
      asked.at(-1)?.answer(turn);
      expect(await found).toBe(turn);
      await settled();
    }
    expect(asked).toHaveLength(2);
  });

  it('are cached up to the maximum age, unless the result would refuse a call', async () => {
    const { asked, find, clock } = slowRegistry(1_000);
    const turn = async (answer: string) => {
      const found = find(tool);
      asked.at(-1)?.answer(answer);
      await settled();
      return found;
    };
    expect([await turn('revoked'), await turn('approved'), await turn('late')]).toEqual([
      'revoked',
      'approved',
      'approved',
    ]);
    clock.nowMs = 1_000;
    expect(await turn('newer')).toBe('newer');
    expect(asked).toHaveLength(3);
  });

  it('do not wait for lookups of another tool', () => {
    const { asked, find } = slowRegistry();
    void find(tool);
    void find(second);
    expect(asked.map(({ toolName }) => toolName)).toEqual(['read_note', 'write_note']);
  });

  it('are retried by waiting callers when the running one fails', async () => {
    const { asked, find } = slowRegistry();
    const first = find(tool);
    const second = find(tool);
    asked[0]?.fail(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await settled();
    asked[1]?.answer('back');
    expect(await second).toBe('back');
  });
});
