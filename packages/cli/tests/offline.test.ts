import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCountersign } from '../src/index.ts';
import { holdingLogin, readLogin, writeLogin, type Login } from '../src/connection/login-file.ts';
import { listText } from '../src/output/format.ts';

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-cli-'));
});

afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(...argv: string[]) {
  const [out, report]: string[][] = [[], []];
  const stdin = (async function* () {
    // The standard input is empty.
  })();
  const status = await runCountersign(argv, {
    write: (text) => void out?.push(text),
    tell: (text) => void report?.push(text),
    env: {},
    stdin,
    signal: new AbortController().signal,
  });
  return { status, out: out?.join('') ?? '', told: report?.join('') ?? '' };
}

function bundle(name: string, rules: string): string {
  const file = join(dir, name);
  writeFileSync(file, `format: countersign/policy.v1\nname: mail\nversion: '1'\nrules:\n${rules}\n`);
  return file;
}

const sound = `  - id: mail\n    effect: allow\n    match: { tool: ['mail.*'] }`;

describe('countersign policy', () => {
  it('confirms a valid bundle, and prints the hash that receipts contain for it', async () => {
    const file = bundle('sound.yaml', sound);
    const { status, out } = await run('policy', 'lint', file);
    expect([status, out]).toEqual([
      0,
      expect.stringMatching(/sound\.yaml: 1 rules, 0 tests pass, sha256:[0-9a-f]{64}\n$/),
    ]);
    expect((await run('policy', 'hash', file)).out).toBe(`${out.split(', ').at(-1)}`);
  });

  it('reports file, line and member of a fault on the standard error', async () => {
    const file = bundle('broken.yaml', `${sound}\n    when: 'args.amount <'`);
    expect(await run('policy', 'lint', file)).toEqual({
      ...{ status: 1, out: '' },
      told: expect.stringMatching(/broken\.yaml:8: .*\/rules\/0\/when \(EXPRESSION_INVALID\)\n$/),
    });
    expect(await run('policy', 'lint', join(dir, 'absent.yaml'))).toMatchObject({ status: 2, out: '' });
  });

  it('runs the tests of a bundle, and reports result, position and reason of each', async () => {
    const tests = ['ALLOW', 'DENY'].map(
      (verdict) =>
        `  - name: mail is ${verdict}\n    intent: { action: tool.call, tool: mail.send }\n    expect: { verdict: ${verdict} }`,
    );
    const file = bundle('tested.yaml', `${sound}\ntests:\n${tests.join('\n')}`);
    const { status, out, told } = await run('policy', 'test', file, '-o', 'json');
    expect([status, told]).toEqual([1, '1 of 2 tests failed\n']);
    expect(JSON.parse(out)).toEqual([
      { test: 'mail is ALLOW', passes: true, line: 9, failure: null },
      { test: 'mail is DENY', passes: false, line: 12, failure: expect.stringContaining('ALLOW') },
    ]);
    expect(await run('policy', 'test', bundle('untested.yaml', sound))).toMatchObject({
      status: 0,
      told: expect.stringContaining('no tests'),
    });
  });
});

describe('countersign', () => {
  it('reports unknown commands and a missing login on the standard error', async () => {
    expect(await run('receipts', 'ls', '--limit', '0')).toMatchObject({ status: 2, out: '' });
    expect(await run('nonsense')).toMatchObject({ status: 2, out: '' });
    expect(await run('verify', join(dir, 'absent'), '--keys', 'absent')).toMatchObject({ status: 2 });
  });

  it('makes control characters visible in tables, and leaves data unchanged', () => {
    const items = [{ name: 'mail\u202e\u001b[31m.send' }];
    const columns = [{ title: 'TOOL', of: ({ name }: { name: string }) => name }];
    expect(listText({ items, columns, format: 'table' })).toBe('TOOL\nmail\\u{202e}\\u{1b}[31m.send\n');
    expect(JSON.parse(listText({ items, columns, format: 'json' }))).toEqual(items);
    expect(listText({ items: [], columns, format: 'jsonl' })).toBe('');
  });

  it('makes control characters visible in messages, wherever a name came from', async () => {
    const hostile = 'a\u202e\u001b[31mb.yaml';
    const shown = String.raw`a\u{202e}\u{1b}[31mb.yaml`;
    expect((await run('policy', 'lint', bundle(hostile, sound))).out).toContain(shown);
    for (const argv of [['policy', 'lint', `absent-${hostile}`], [hostile], ['policy', `--${hostile}`]]) {
      const { told } = await run(...argv);
      expect([argv, told.replaceAll('\n', '')]).toEqual([argv, expect.stringMatching(/^[\x20-\x7e]+$/)]);
      expect(told).toContain(shown);
    }
  });
});

describe('a login', () => {
  const login = { access_token: 'csd_a', refresh_token: 'csr_a', expires_at: '2026-11-22T10:00:00.000Z' };
  const place = { url: 'http://localhost:3100', workspace_id: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV', role: 'member' };
  const made = { ...place, ...login } as Login;

  it('is stored unreadable for other accounts, and refused when others can read it', async () => {
    await writeLogin(dir, made);
    expect(statSync(join(dir, 'login.json')).mode & 0o777).toBe(0o600);
    expect(await readLogin(dir)).toEqual(made);

    chmodSync(join(dir, 'login.json'), 0o644);
    await expect(readLogin(dir)).rejects.toThrow('can be read by others');
    chmodSync(join(dir, 'login.json'), 0o600);
  });

  it('is renewed by one command at a time', async () => {
    let [inside, most] = [0, 0];
    const work = async () => {
      most = Math.max(most, (inside += 1));
      await new Promise((later) => setTimeout(later, 10)); // long enough for all commands to hold the login at once, without a lock
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 8 }, () => holdingLogin(dir, work)));
    expect([inside, most]).toEqual([0, 1]);
  });
});
