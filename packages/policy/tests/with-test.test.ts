import { describe, expect, it } from '@jest/globals';
import type { PolicyTest } from '@countersign/contracts/governance-kernel';
import { parsePolicyBundle, withTest } from '../src/index.ts';

const kept = {
  name: 'kept',
  intent: { action: 'tool.call', tool: 'files.read', effect_level: 'E1', args: { path: '~', at: 1 } },
  expect: { verdict: 'DENY' },
} as unknown as PolicyTest; // without the defaults of the schema
const renamed = { ...kept, name: 'other' };
const head = { format: 'countersign/policy.v1', name: 'n', version: '1', rules: [{ id: 'r', effect: 'allow' }] };
const yaml = `# who may what
format: countersign/policy.v1
name: n # ours
version: "1"
rules:
  - { id: r, effect: allow }
`;

const namesIn = (text: string) => parsePolicyBundle(text).tests.map(({ name }) => name);

describe('a bundle with one more test', () => {
  it('stays YAML with its comments, with or without other tests', () => {
    const one = withTest(yaml, kept);
    expect(one.startsWith(yaml)).toBe(true);
    const two = withTest(one, renamed);
    expect(two.startsWith(one)).toBe(true);
    expect(namesIn(two)).toEqual(['kept', 'other']);
    expect(parsePolicyBundle(two).tests[0]).toMatchObject(kept);
    expect(namesIn(withTest(`${yaml}tests: []\n`, kept))).toEqual(['kept']);
  });

  it('stays JSON, with or without other tests, and after leading spaces', () => {
    const one = withTest(` \n${JSON.stringify(head)}`, kept);
    expect(JSON.parse(one)).toEqual({ ...head, tests: [kept] });
    expect(one).toBe(`${JSON.stringify({ ...head, tests: [kept] }, null, 2)}\n`);
    expect(JSON.parse(withTest(one, renamed))).toEqual({ ...head, tests: [kept, renamed] });
  });

  it('repeats values that two tests share, since a bundle accepts no aliases', () => {
    const args = { list: [1] };
    const shared = { ...kept, intent: { ...kept.intent, args, context: args } };
    expect(parsePolicyBundle(withTest(yaml, shared)).tests[0]).toMatchObject(shared);
    expect(parsePolicyBundle(withTest(withTest(yaml, kept), { ...shared, name: 'other' })).tests[1]).toMatchObject({
      intent: shared.intent,
    });
  });

  it('does not wrap long lines', () => {
    const long = { ...kept, name: `a ${'word '.repeat(60)}long name`.slice(0, 120) };
    expect(withTest(yaml, long)).toContain(`name: ${long.name}\n`);
  });

  it.each([
    ['DUPLICATE_TEST', 'a test named "kept" already exists', withTest(yaml, kept), kept],
    ['MALFORMED_BUNDLE', '', 'a list of nothing', kept],
    ['MALFORMED_BUNDLE', '', yaml, { ...kept, expect: { verdict: 'PERHAPS' } } as unknown as PolicyTest],
  ])('is rejected as %s: %s', (code, message, text, test) => {
    expect(() => withTest(text, test)).toThrow(expect.objectContaining({ code }));
    expect(() => withTest(text, test)).toThrow(message);
  });
});
