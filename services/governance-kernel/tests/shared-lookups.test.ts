import { describe, expect, it } from '@jest/globals';
import { sharedLookups } from '../src/mcp/shared-lookups.ts';

const tool = { serverId: 'notes', toolName: 'read_note' };
const other = { serverId: 'notes', toolName: 'write_note' };

/** A registry whose answers come when the test says so. */
function slowRegistry(ageMaxMs = 0) {
  const clock = { nowMs: 0 };
  const asked: { toolName: string; answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  const find = sharedLookups(
    ({ toolName }: typeof tool) =>
      new Promise<string>((answer, fail) => {
        asked.push({ toolName, answer, fail });
      }),
    { keeps: (found) => found !== 'revoked', ageMaxMs, now: () => clock.nowMs },
  );
  return { asked, find, clock };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('look-ups of one tool', () => {
  it('are one for all who ask while another is on its way, and it starts after they asked', async () => {
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

  it('are looked up again by later callers, when nothing may be remembered', async () => {
    const { asked, find } = slowRegistry();
    for (const turn of ['a', 'b']) {
      const found = find(tool);
      asked.at(-1)?.answer(turn);
      expect(await found).toBe(turn);
      await settled();
    }
    expect(asked).toHaveLength(2);
  });

  it('are remembered as long as they may be, and never when they would refuse a call', async () => {
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

  it('do not wait for those of another tool', () => {
    const { asked, find } = slowRegistry();
    void find(tool);
    void find(other);
    expect(asked.map(({ toolName }) => toolName)).toEqual(['read_note', 'write_note']);
  });

  it('are tried again by those who wait when the one on its way fails', async () => {
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
