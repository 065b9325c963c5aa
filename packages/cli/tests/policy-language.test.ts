import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { gateOrder } from '@countersign/contracts';
import { leastEffectOf } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, failedTests, parsePolicyBundle } from '@countersign/policy';
import { runCountersign } from '../src/index.ts';

const page = readFileSync(new URL('../../../docs/policy-language.md', import.meta.url), 'utf8');
const [reference = '', worked = ''] = page.split('## Twelve examples');
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
const examples = worked.split(/^### /m).flatMap((section) => {
  const [block] = blocksOf(section, 'yaml');
  return block === undefined ? [] : [{ title: section.split('\n')[0] ?? '', block }];
});
const head = "format: countersign/policy.v1\nname: example\nversion: '1'\n";

const dir = mkdtempSync(join(tmpdir(), 'countersign-policy-language-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(command: string) {
  const out: string[] = [];
  const argv = command.split(' ').slice(1);
  const status = await runCountersign(
    argv.map((word) => (word.endsWith('.yaml') ? join(dir, word) : word)),
    {
      write: (text) => void out.push(text),
      tell: (text) => void out.push(text),
      env: {},
      stdin: (async function* () {
        // The standard input is empty.
      })(),
      signal: new AbortController().signal,
    },
  );
  return { status, out: out.join('') };
}

describe('the documentation of the policy language', () => {
  it('has a complete bundle that the commands accept', async () => {
    const [bundle = ''] = blocksOf(reference, 'yaml');
    writeFileSync(join(dir, 'support.yaml'), bundle);
    const commands = (blocksOf(reference, 'sh')[0] ?? '').trim().split('\n');
    const printed = [];
    for (const command of commands) printed.push(await run(command));
    expect(printed.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(printed.map(({ out }) => out)).toEqual([
      expect.stringContaining('2 rules, 2 tests pass'),
      expect.stringMatching(/ok +a customer is read/),
      expect.stringMatching(/^sha256:[0-9a-f]{64}\n$/),
    ]);
  });

  it('has twelve examples', () => expect(examples).toHaveLength(12));

  it.each(examples)('decides as documented: $title', ({ block }) => {
    const bundle = parsePolicyBundle(head + block);
    expect(bundle.tests.length).toBeGreaterThan(1);
    expect(failedTests(compilePolicy({ ...bundle, tests: [] }, nodeProvider), bundle.tests)).toEqual([]);
    const without = compilePolicy({ ...bundle, rules: [], tests: [] }, nodeProvider);
    expect(failedTests(without, bundle.tests)).not.toEqual([]);
  });

  it('lists existing functions, and a function that is not listed is refused', () => {
    const rules = (when: string) => ({ ...parsePolicyBundle(`${head}rules: []`), rules: [ruleWith(when)] });
    const table = /^\| Functions(.*?)\n\n/ms.exec(reference)?.[1] ?? '';
    const names = [...table.matchAll(/`([a-z]\w*)`/gi)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(30);
    // The compiler also refuses a wrong number of arguments, so each name is tried with different numbers of them.
    const accepted = (name: string) =>
      ['', '"1"', '1', 'x, true', '1, 1'].some((operands) => {
        const calls = [`${name}(${operands})`, `args.a.${name}(${operands})`, `now.${name}(${operands})`];
        return calls.some((call) => compiles(rules(`${call} == ${call}`)));
      });
    expect(names.filter((name) => !accepted(name))).toEqual([]);
    expect(accepted('getDayOfYear')).toBe(false);
  });

  it('lists the gates in their order, and the minimum effects of actions', () => {
    const [, gates = ''] = /which run in this order: (.*?)\. The first/s.exec(reference) ?? [];
    expect([...gates.matchAll(/`(\w+)`/g)].map(([, gate]) => gate)).toEqual([...gateOrder]);
    const rows = [...reference.matchAll(/^\| (`[a-z.]+`(?:, `[a-z.]+`)*) +\| `(E\d)` +\|$/gm)];
    const listed = rows.flatMap(([, actions = '', level]) =>
      [...actions.matchAll(/`([^`]+)`/g)].map(([, action = '']) => [action, level]),
    );
    expect(listed.length).toBe(15);
    expect(listed.filter(([action, level]) => leastEffectOf(action ?? '') !== level)).toEqual([]);
  });
});

const ruleWith = (when: string) => ({ id: 'r', effect: 'allow' as const, match: {}, when });

function compiles(bundle: Parameters<typeof compilePolicy>[0]): boolean {
  try {
    compilePolicy(bundle, nodeProvider);
    return true;
  } catch {
    return false;
  }
}
