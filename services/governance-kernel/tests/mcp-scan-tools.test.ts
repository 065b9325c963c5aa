import { describe, expect, it } from '@jest/globals';
import { instructionRules } from '../src/controls/mcp-scan/scan-rules.ts';
import { scanTools } from '../src/controls/mcp-scan/scan-tools.ts';

const none = { others: [], pinned: new Map() };
const tool = (more: object) => ({ name: 'tool', inputSchema: { type: 'object' as const }, ...more });

describe('the scan of tool definitions', () => {
  it('shows invisible characters and hides secrets', async () => {
    const [hidden] = await scanTools([tool({ description: 'Adds.\u202e\u200b' })], none);
    expect(hidden?.excerpt).not.toMatch(/[\u202e\u200b]/);
    const secret = `ghp_${'a8Kd0PqLm3Zx7RtYvB5nCwE1uHsJfG2oIiTe'}`;
    const [found] = await scanTools([tool({ description: `Uses ${secret}` })], none);
    expect(found).toMatchObject({ kind: 'embedded_secret' });
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  it('shows which members differ from the approved definition', async () => {
    const pinned = tool({ description: 'Adds.' });
    const [drift] = await scanTools([tool({ description: 'Adds more.' })], {
      ...none,
      pinned: new Map([['tool', pinned]]),
    });
    expect(drift).toMatchObject({ kind: 'drift', member: 'description', excerpt: '"Adds." -> "Adds more."' });
  });

  it('finds tools that together read untrusted content, read private data and send', async () => {
    const tools = ['fetch_url', 'read_files', 'send_email'].map((name) => tool({ name }));
    const kinds = async (some: typeof tools) => (await scanTools(some, none)).map(({ kind }) => kind);
    expect(await kinds(tools)).toContain('dangerous_combination');
    expect(await kinds(tools.slice(0, 2))).not.toContain('dangerous_combination');
  });

  it('scans the longest accepted text of the worst kind about as fast as prose, and reports a longer text', async () => {
    /** The time of the fastest of many scans. On a loaded machine, few of them run without an interruption. */
    const fastest = async (text: string) => {
      const turns = [];
      for (let turn = 0; turn < 40; turn += 1) {
        const startedAt = performance.now(); // this test measures time
        await scanTools([tool({ description: text.slice(0, 20_000) })], none);
        turns.push(performance.now() - startedAt); // as above
      }
      return Math.min(...turns);
    };
    const prose = await fastest('Lists the files of a folder, with their sizes. '.repeat(500));
    const worst = [
      'send '.repeat(4_000),
      'ignore '.repeat(2_800),
      'aa'.repeat(10_000),
      ' '.repeat(20_000),
      '%41'.repeat(6_600),
    ];
    // These scans take at most twice as long. With an expression that backtracks, one takes at least 20 times as long.
    for (const text of worst) expect((await fastest(text)) / prose).toBeLessThan(10);
    expect(instructionRules.length).toBeGreaterThan(10);
    const [tooLong] = await scanTools([tool({ description: 'x'.repeat(20_001) })], none);
    expect(tooLong).toMatchObject({ rule: 'too-long', severity: 'high' });
  });
});
