import { describe, expect, it } from '@jest/globals';
import type { PolicyTest } from '@countersign/contracts/governance-kernel';
import { failedTests, failedTestsInTurns, type CompiledPolicy } from '../src/index.ts';
import { bundleOf, policyOf, viewer } from './situation.ts';

const rules = [
  { id: 'reads', effect: 'allow', match: { tool: ['files.read'] }, when: 'args.path != "secret"' },
  { id: 'sends', effect: 'escalate', match: { action: ['data.egress'] } },
  { id: 'related', effect: 'allow', match: { tool: ['files.related'] }, when: 'relations.viewer' },
  { id: 'never', effect: 'deny', match: { tool: ['shell.*'] } },
];
const policy: CompiledPolicy = policyOf(rules, [], { viewer });

/** The tests of a bundle, with the defaults of the schema. */
const testsOf = (...tests: object[]): PolicyTest[] =>
  bundleOf(
    rules,
    tests.map((test, nth) => ({ name: `t${nth}`, ...test })),
    { viewer },
  ).tests;
const calls = (tool: string, args: object = {}, rest: object = {}) => ({
  intent: { action: 'tool.call', tool, args, ...rest },
});

describe('tests of a bundle', () => {
  it('are all reported if they fail, with their place and the difference', () => {
    const read = calls('files.read', { path: 'a' });
    const shell = calls('shell.run');
    const found = failedTests(
      policy,
      testsOf(
        { ...read, expect: { verdict: 'ALLOW', reason_code: 'ALLOWED', rule: 'reads' } },
        { ...read, expect: { verdict: 'DENY' } },
        { ...shell, expect: { verdict: 'DENY', reason_code: 'NO_MATCHING_RULE' } },
        { ...shell, expect: { verdict: 'DENY', rule: 'reads' } },
        { ...shell, expect: { verdict: 'DENY', rule: 'never' } },
        { ...calls('files.nothing'), expect: { verdict: 'DENY', rule: 'reads' } },
        { intent: { action: 'data.egress' }, expect: { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' } },
        { intent: { action: 'data.egress' }, expect: { verdict: 'ALLOW' } },
      ),
    );
    expect(found.map(({ code, path, message }) => [code, path, message.replace(` at ${path}`, '')])).toEqual([
      ['TEST_FAILED', '/tests/1', 'test "t1" failed: expected DENY, got ALLOW (ALLOWED)'],
      ['TEST_FAILED', '/tests/2', 'test "t2" failed: expected NO_MATCHING_RULE, got POLICY_DENIED'],
      ['TEST_FAILED', '/tests/3', 'test "t3" failed: expected rule reads, got never'],
      ['TEST_FAILED', '/tests/5', 'test "t5" failed: expected rule reads, got none'],
      ['TEST_FAILED', '/tests/7', 'test "t7" failed: expected ALLOW, got ESCALATE (APPROVAL_REQUIRED)'],
    ]);
  });

  it('stop after a hundred failures, and yield to other work after each test', async () => {
    const passing = { ...calls('files.read', { path: 'a' }), expect: { verdict: 'ALLOW' } };
    const failing = { ...calls('shell.run'), expect: { verdict: 'ALLOW' } };
    const foundIn = async (...tests: object[]) => {
      let turns = 0;
      const nextTurn = () => Promise.resolve((turns += 1));
      const found = await failedTestsInTurns(policy, testsOf(...tests), { nextTurn });
      return { paths: found.map(({ path }) => path), turns };
    };
    expect(await foundIn(passing, failing, passing, failing)).toEqual({ paths: ['/tests/1', '/tests/3'], turns: 4 });
    const many = await foundIn(passing, ...Array.from({ length: 103 }, () => failing));
    expect(many).toMatchObject({ turns: 100 });
    expect(many.paths).toHaveLength(100);
  });

  it('have only the relations that they name', () => {
    const related = (relations?: object) => calls('files.related', { id: '7' }, relations ? { relations } : {});
    const denied = { expect: { verdict: 'DENY', reason_code: 'NO_MATCHING_RULE' } };
    const allowed = { expect: { verdict: 'ALLOW' } };
    const tests = testsOf(
      { ...related(), ...denied },
      { ...related({ viewer: false }), ...denied },
      { ...related({ viewer: true }), ...allowed },
    );
    expect(failedTests(policy, tests)).toEqual([]);
  });

  it('have no tool and no resource unless they name one', () => {
    const nameless = policyOf([{ id: 'r', effect: 'allow', when: 'tool == null && resource == null' }]);
    const intent = { action: 'agent.spawn' };
    expect(failedTests(nameless, testsOf({ intent, expect: { verdict: 'ALLOW' } }))).toEqual([]);
    const named = policyOf([{ id: 'r', effect: 'allow', when: 'tool == "files.read" && resource == "file:/a"' }]);
    const read = calls('files.read', {}, { resource: 'file:/a' });
    expect(failedTests(named, testsOf({ ...read, expect: { verdict: 'ALLOW' } }))).toEqual([]);
  });
});
