import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { json } from 'node:stream/consumers';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { runCountersign } from '../src/index.ts';

const place = new URL('../../../contracts/vectors/packs/one-session.json', import.meta.url);
const vector = JSON.parse(readFileSync(place, 'utf8')) as { keys: object; pack: string[] };
const text = `${vector.pack.join('\n')}\n`;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-evidence-'));
  file('keys.json', JSON.stringify(vector.keys));
  file('pack.jsonl', text);
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, content: string): string {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

async function run(argv: string[], env: Record<string, string> = {}) {
  const [out, output]: [string[], string[]] = [[], []];
  const status = await runCountersign(argv, {
    write: (words) => void out.push(words),
    tell: (words) => void output.push(words),
    env,
    stdin: (async function* () {
      // The standard input is empty.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out: out.join(''), told: output.join('') };
}

const at = (name: string) => join(dir, name);
const withKeys = (...argv: string[]) => run([...argv, '--keys', at('keys.json')]);

describe('countersign evidence verify', () => {
  verifies(
    'kn.evidence.verify',
    'verifies a pack offline, and reports the result in its exit status and in words',
    async () => {
      const { status, out } = await withKeys('evidence', 'verify', at('pack.jsonl'));
      expect([status, out]).toEqual([
        0,
        expect.stringMatching(/^VERIFIED: 2 receipts.*\n.*\n {2}completeness {2}COMPLETE of acme, leaves /),
      ]);
      expect(out).toContain('open calls    0');
      const cut = file('cut.jsonl', `${vector.pack.slice(0, -1).join('\n')}\n`);
      expect((await withKeys('evidence', 'verify', cut)).status).toBe(3);
      const changed = file('changed.jsonl', text.replace('mail.send', 'mail.read'));
      expect((await withKeys('evidence', 'verify', changed)).status).toBe(1);
      const unended = file('unended.jsonl', text.slice(0, -1));
      expect((await withKeys('evidence', 'verify', unended)).status).toBe(1);
    },
  );

  it('reports missing parts that the caller expects', async () => {
    const hash = `sha256:${'1'.repeat(64)}`;
    const { status, out } = await withKeys('verify', at('pack.jsonl'), '--contains', hash, '--sessions', 'absent');
    expect([status, out]).toEqual([3, expect.stringContaining(`missing: the receipt ${hash}, which was required`)]);
    expect(out).toContain('missing: the session absent, which was required');
    expect((await withKeys('verify', at('pack.jsonl'), '--partial')).status).toBe(2);
  });

  it('compares a pack with an earlier one', async () => {
    const { status } = await withKeys('verify', at('pack.jsonl'), '--beside', at('pack.jsonl'));
    expect(status).toBe(0);
    const less = file('less.jsonl', `${vector.pack.slice(0, 3).join('\n')}\n`);
    const { out } = await withKeys('verify', less, '--beside', at('pack.jsonl'));
    expect(out).toMatch(/missing: 1 receipts of the earlier export, the first at place \d+/);
  });
});

describe('countersign evidence report', () => {
  it('writes only a new file, and reports an existing file or an unreadable pack', async () => {
    const report = (pack: string, out: string) => withKeys('evidence', 'report', at(pack), '--file', at(out));
    expect(await report('pack.jsonl', 'report.html')).toMatchObject({
      status: 0,
      told: `VERIFIED: ${at('report.html')}\n`,
    });
    expect(await report('pack.jsonl', 'report.html')).toMatchObject({
      status: 2,
      told: expect.stringContaining('exists'),
    });
    expect(await report('absent', 'other.html')).toMatchObject({
      status: 2,
      told: expect.stringContaining('cannot be read'),
    });
  });
});

describe('countersign replay', () => {
  verifies('kn.replay', 'replays the decisions of a pack offline', async () => {
    expect(await withKeys('replay', at('pack.jsonl'))).toMatchObject({
      ...{ status: 0, out: 'evidence VERIFIED\n2 decisions: 2 MATCH, 0 DIVERGED, 0 UNREPLAYABLE\n' },
    });
    const rules = `rules:\n  - { id: none, effect: deny, match: { tool: ['mail.*'] } }\n  - { id: all, effect: allow, match: { action: ['*'] } }\n`;
    const policy = file('strict.yaml', `format: countersign/policy.v1\nname: strict\nversion: '1'\n${rules}`);
    const { status, out } = await withKeys('replay', at('pack.jsonl'), '--policy', policy);
    expect([status, out]).toEqual([
      1,
      expect.stringMatching(/DIVERGED rcp_\w+: ALLOW ALLOWED, now DENY POLICY_DENIED\n$/),
    ]);
  });
});

describe('countersign evidence export', () => {
  let server: Server;
  let answer: { text: string; hash: string };
  let received: unknown;
  beforeEach(async () => {
    answer = { text, hash: `sha256:${createHash('sha256').update(text).digest('hex')}` };
    server = createServer((req, res) => {
      void (async () => {
        received = await json(req);
        res.setHeader('x-gov-evidence-hash', answer.hash);
        res.end(answer.text);
      })();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => void server.close(resolve)));
  const env = () => ({
    COUNTERSIGN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    COUNTERSIGN_TOKEN: 'token',
    COUNTERSIGN_CONFIG_DIR: dir,
  });

  it('saves the pack if it has the hash that the server states, and requests its scope', async () => {
    const { status, told } = await run(['evidence', 'export', '--leaves', '0..9', '--file', at('saved.jsonl')], env());
    expect([status, told]).toEqual([0, `${answer.hash}\n`]);
    expect(readFileSync(at('saved.jsonl'), 'utf8')).toBe(text);
    expect(received).toEqual({ leaves: { from: 0, to: 9 } });
    expect((await run(['evidence', 'export', '--session', 's1', 's2'], env())).out).toBe(text);
    expect(received).toEqual({ sessions: ['s1', 's2'] });
    const { status: refused, told: why } = await run(['receipts', 'export', '--session', 's1', 's2'], env());
    expect([refused, why]).toEqual([2, expect.stringContaining('For several, use countersign evidence export')]);
  });

  it('fails when the hash of the pack differs from the one that the server states', async () => {
    answer.text = text.slice(0, 200);
    const { status, told } = await run(['evidence', 'export'], env());
    expect([status, told]).toEqual([1, expect.stringContaining('was cut or changed')]);
    expect((await run(['evidence', 'export', '--leaves', 'all'], env())).status).toBe(2);
  });
});
