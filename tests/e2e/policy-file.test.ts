import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { describeStory } from '@countersign/testkit/describe-story';
import { untilAnswered } from '@countersign/testkit/until';
import { readText } from '../architecture/repository.ts';
import { scratchDataDir, startIn } from './_system.ts';

const dataDir = scratchDataDir();
const file = join(dataDir.path, 'policy.yaml');
const starter = readText('infra/local/policy/starter.yaml');
const secondVersion = starter.replace("version: '1'", "version: '2'");
const broken = secondVersion.replace('expect: { verdict: ALLOW, rule: allow-reads }', 'expect: { verdict: DENY }');
const brokenLine = broken.split('\n').findIndex((line) => line.includes('name: a read is allowed')) + 1;
const refusal = `line ${brokenLine}: test "a read is allowed" failed: expected DENY, got ALLOW (ALLOWED) at /tests/0`;
let system: StartedSystem;

beforeAll(async () => {
  mkdirSync(dataDir.path, { recursive: true });
  writeFileSync(file, starter);
  // The file has its own system, because it writes the policy file of the system and stops it.
  system = await startIn(dataDir.path, { GOV_POLICY_FILE: file, GOV_POLICY_FILE_INTERVAL: '200ms' });
});
afterAll(() => dataDir.remove());

const policyLines = () => system.lines.filter((line) => line.startsWith('Policy '));

async function afterWriting(text: string): Promise<string> {
  const before = policyLines().length;
  // Replaced in one step, because the file is read often and half of it would be rejected.
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return await untilAnswered(() => Promise.resolve(policyLines()[before]));
}

describeStory('an operator who edits the policy of a running system', () => {
  it('reads in the terminal, once for each content, that it is in force, or why and at which line it is rejected', async () => {
    expect(await afterWriting(secondVersion)).toMatch(
      new RegExp(`^Policy activated: starter 2, sha256:[0-9a-f]{12}, epoch 2, ${file}$`),
    );
    expect(await afterWriting(broken)).toBe(
      `Policy refused, the earlier policy stays in force: The policy file ${file} cannot be used: ${refusal}`,
    );
    expect(await afterWriting(secondVersion)).toMatch(/^Policy unchanged: starter 2, .*, epoch 2, /);
    expect(await afterWriting(`${secondVersion}\n  - oops: [`)).toMatch(/^Policy refused, .*: line \d+: /);
    expect(policyLines()).toHaveLength(5);
  });

  it('reads the same reason after a failed start, which leaves no process running', async () => {
    await system.stop();
    writeFileSync(file, broken);
    const sentence = `Countersign did not start: The policy file ${file} cannot be used: ${refusal}`;
    await expect(startIn(dataDir.path, { GOV_POLICY_FILE: file })).rejects.toThrow(
      new Error(`The system did not start:\n\n${sentence}`),
    );
  });
});
