import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { describeStory } from '@countersign/testkit/describe-story';
import { untilAnswered } from '@countersign/testkit/until';
import { readText } from '../architecture/repository.ts';
import { scratchDataDir, startIn } from './_system.ts';

const timeoutMs = 120_000;
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
  // Its policy is a file of the test, and it is stopped.
  system = await startIn(dataDir.path, { GOV_POLICY_FILE: file, GOV_POLICY_FILE_INTERVAL: '200ms' });
}, timeoutMs);
afterAll(() => dataDir.remove());

const policyLines = () => system.said.filter((line) => line.startsWith('Policy '));

async function afterWriting(text: string): Promise<string> {
  const before = policyLines().length;
  // In one step: the file is read often, and half of it would be refused.
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
  return await untilAnswered(() => Promise.resolve(policyLines()[before]));
}

describeStory('the editor of a running system’s policy', () => {
  it(
    'reads in the terminal what was taken over, or the first reason and line of a refusal, once for each content',
    async () => {
      expect(await afterWriting(secondVersion)).toMatch(
        new RegExp(`^Policy taken over: starter 2, sha256:[0-9a-f]{12}, epoch 2, ${file}$`),
      );
      expect(await afterWriting(broken)).toBe(
        `Policy refused, the one before stays: The policy file ${file} cannot be used: ${refusal}`,
      );
      expect(await afterWriting(secondVersion)).toMatch(/^Policy unchanged: starter 2, .*, epoch 2, /);
      expect(await afterWriting(`${secondVersion}\n  - oops: [`)).toMatch(/^Policy refused, .*: line \d+: /);
      expect(policyLines()).toHaveLength(5);
    },
    timeoutMs,
  );

  it(
    'is told the same by a start that fails of it, and nothing else, for nothing was left running',
    async () => {
      await system.stop();
      writeFileSync(file, broken);
      const sentence = `Countersign did not start: The policy file ${file} cannot be used: ${refusal}`;
      await expect(startIn(dataDir.path, { GOV_POLICY_FILE: file })).rejects.toThrow(
        new Error(`The system did not start:\n\n${sentence}`),
      );
    },
    timeoutMs,
  );
});
