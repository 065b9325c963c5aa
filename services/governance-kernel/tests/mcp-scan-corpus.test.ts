import { describe, expect, it } from '@jest/globals';
import { instructionRules } from '../src/mcp-scan/scan-rules.ts';
import { scanTools } from '../src/mcp-scan/scan-tools.ts';
import { corpus, measured } from './_scan-corpus.ts';

const none = { others: [], pinned: new Map() };
const tool = (more: object) => ({ name: 'tool', inputSchema: { type: 'object' as const }, ...more });

describe('the scan of tool definitions, on its labelled corpus', () => {
  it('finds at least 95 in 100 of what was planted, each by its kind, and blames at most 3 in 100 honest tools', async () => {
    const { missed, blamed, recall, falsePositives } = await measured();
    expect({ missed, recall: recall >= 0.95 }).toEqual({ missed, recall: true });
    expect({ blamed, falsePositives: falsePositives <= 0.03 }).toEqual({ blamed, falsePositives: true });
  });

  it('has enough of both, of every kind that one tool can show', () => {
    const malicious = corpus.filter(({ label }) => label === 'malicious');
    expect(malicious.length).toBeGreaterThanOrEqual(60);
    expect(corpus.length - malicious.length).toBeGreaterThanOrEqual(60);
    expect(new Set(malicious.map(({ kind }) => kind))).toEqual(
      new Set([
        'hidden_text',
        'model_instruction',
        'look_alike',
        'shadowing',
        'encoded_payload',
        'embedded_secret',
        'broad_schema',
        'understated_effect',
      ]),
    );
  });

  it('shows what a reader does not see, and no secret', async () => {
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

  it('finds tools that together read what others wrote, read private data and send', async () => {
    const tools = ['fetch_url', 'read_files', 'send_email'].map((name) => tool({ name }));
    const kinds = async (some: typeof tools) => (await scanTools(some, none)).map(({ kind }) => kind);
    expect(await kinds(tools)).toContain('dangerous_combination');
    expect(await kinds(tools.slice(0, 2))).not.toContain('dangerous_combination');
  });

  it('reads the longest text that it accepts, of the worst kind, in bounded time', async () => {
    const worst = [
      'send '.repeat(4_000),
      'ignore '.repeat(2_800),
      'aa'.repeat(10_000),
      ' '.repeat(20_000),
      '%41'.repeat(6_600),
    ];
    for (const description of worst) {
      const startedAtMs = performance.now(); // the time is what is claimed
      await scanTools([tool({ description: description.slice(0, 20_000) })], none);
      expect(performance.now() - startedAtMs).toBeLessThan(1_000); // as above
    }
    expect(instructionRules.length).toBeGreaterThan(10);
    const [tooLong] = await scanTools([tool({ description: 'x'.repeat(20_001) })], none);
    expect(tooLong).toMatchObject({ rule: 'too-long', severity: 'high' });
  });
});
