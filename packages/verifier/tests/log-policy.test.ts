import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { cosignerKey, decodeHex, formatCosignerVkey, formatVkey, noteKey } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { parseLogPolicy } from '../src/index.ts';
import { runCli } from '../src/run-cli.ts';

const keys = ['11', '22', '33'].map((byte) => createSigner(decodeHex(byte.repeat(32))).publicKey);
const witness = (index: number, name = `w.example/${index}`) =>
  formatCosignerVkey(cosignerKey(nodeProvider, name, keys[index] ?? new Uint8Array()));
const log = formatVkey(noteKey(nodeProvider, 'log.example', keys[2] ?? new Uint8Array()));
const parse = (...lines: string[]) => parseLogPolicy(`${lines.join('\n')}\n`, nodeProvider);
const [w0, w1] = [`witness A ${witness(0)}`, `witness B ${witness(1)}`];

describe('a policy of witnesses', () => {
  it('is read with comments, blanks, tabs and addresses', () => {
    const read = parse(
      '# who',
      '',
      `\tlog  ${log}\thttps://log.example `,
      `${w0} https://w.example`,
      w1,
      'group g all A B',
      'quorum g',
    );
    expect(read.logs).toHaveLength(1);
    expect(read.quorum).toEqual({ threshold: 2, members: read.witnesses });
    expect(parse('quorum none').quorum).toBeNull();
  });

  it.each([
    ['no quorum', [w0], /no quorum line/],
    ['two quorums', [w0, 'quorum A', 'quorum none'], /line 3: .*exactly one quorum line/],
    ['a quorum whose members are defined below it', ['quorum A', w0], /line 1: no earlier line defines A/],
    ['one key under two names', [w0, `witness B ${witness(0, 'w.example/b')}`, 'quorum A'], /line 2: .*the same key/],
    ['one name for two witnesses', [w0, `witness A ${witness(1)}`, 'quorum A'], /line 2: .*already used/],
    ['a witness called none', [`witness none ${witness(0)}`, 'quorum none'], /line 1: .*already used/],
    [
      'a witness in two groups',
      [w0, w1, 'group g any A B', 'group h any A', 'quorum g'],
      /line 4: A is already a member/,
    ],
    ['a group that requires more members than it has', [w0, 'group g 2 A', 'quorum g'], /line 2: the rule/],
    ['a group that requires 0 members', [w0, 'group g 0 A', 'quorum g'], /line 2: the rule/],
    ['a group without members', [w0, 'group g any', 'quorum A'], /line 2: a group line has/],
    ['a witness with the key of a log', [`witness A ${log}`, 'quorum A'], /line 1: .*verifier key/],
    ['a log with the key of a witness', [`log ${witness(0)}`, 'quorum none'], /line 1: .*verifier key/],
    ['an unknown word', ['logs', 'quorum none'], /line 1: the first word/],
    ['a carriage return', ['quorum none\r'], /line 1: control characters/],
  ])('with %s is refused', (_, lines, problem) => {
    expect(() => parse(...lines)).toThrow(problem);
  });
});

describe('countersign-verify --policy', () => {
  const vector = (name: string) =>
    JSON.parse(readFileSync(new URL(`../../../contracts/vectors/receipts/${name}.json`, import.meta.url), 'utf8')) as {
      export: string[];
      keys: unknown;
      policy: string;
    }; // a file of this repository
  const run = async (name: string, ...options: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-policy-'));
    const { export: lines, keys: keySet, policy } = vector(name);
    const [keysFile, policyFile] = [join(folder, 'keys.json'), join(folder, 'policy')];
    writeFileSync(keysFile, JSON.stringify(keySet));
    writeFileSync(policyFile, policy);
    let output = '';
    const stdin = Readable.from([Buffer.from(`${lines.join('\n')}\n`)]);
    const args = ['-', '--keys', keysFile, '--policy', policyFile, ...options];
    const status = await runCli(args, { write: (text) => (output += text), stdin });
    rmSync(folder, { recursive: true });
    return { status, output };
  };

  it('reports the time bounds that the witnesses prove', async () => {
    const { status, output } = await run('valid/cosigned-by-a-group');
    expect(status).toBe(0);
    expect(output).toContain('time          WITNESSED [2026-02-01T00:06:00.000Z, 2026-02-01T00:22:00.000Z]');
  });

  it('exits 3 without a quorum, and is refused when --require excludes time', async () => {
    expect(await run('incomplete/cosigned-by-all-but-one')).toMatchObject({ status: 3 });
    const refused = await run('incomplete/cosigned-by-all-but-one', '--require', 'integrity');
    expect(refused).toMatchObject({ status: 2, output: expect.stringContaining('--policy needs time') });
  });
});
