import type { PolicyTest } from '@countersign/contracts/governance-kernel';
import type { ReasonCode, Verdict } from '@countersign/contracts';
import type { CompiledPolicy } from './compile-policy.ts';
import type { RuleOutcome } from './decision.ts';
import { evaluateRules } from './evaluate-rules.ts';
import type { Intent } from './intent.ts';
import { PolicyError } from './policy-error.ts';
import { decisionWork, decisionWorkMax, Work } from './work.ts';

/** Tests have no clock. A rule that reads `now` gets this time, so that compiling is deterministic. */
const testNow = '2026-01-01T00:00:00.000Z';

/**
 * The work that all tests of a bundle share. It is enough for a thousand tests of thousands of rules. One test may take
 * no more than a decision.
 */
const testsWorkMax = 50 * decisionWorkMax;

/**
 * Runs the tests of a bundle against its rules, one test for each step. Throws {@link PolicyError} `TEST_FAILED` for
 * the first failure.
 */
export function* policyTestsInSteps(policy: CompiledPolicy): Generator<void, void> {
  for (const failed of failures(policy, policy.bundle.tests)) {
    if (failed !== null) throw failed;
    yield;
  }
}

/** All tests that fail, for an author who is fixing a bundle. The policy must be compiled without its tests. */
export function failedTests(policy: CompiledPolicy, tests: readonly PolicyTest[]): PolicyError[] {
  return [...failures(policy, tests)].flatMap((failure) => failure ?? []);
}

/** The maximum number of reported failures, since a person fixes no more at once. */
const failuresMax = 100;

/**
 * The first failures. Yields to other work after each test, since one test may evaluate thousands of rules. Throws the
 * reason of `signal`.
 */
export async function failedTestsInTurns(
  policy: CompiledPolicy,
  tests: readonly PolicyTest[],
  { nextTurn, signal }: { nextTurn(): Promise<unknown>; signal?: AbortSignal },
): Promise<PolicyError[]> {
  const found: PolicyError[] = [];
  for (const failure of failures(policy, tests)) {
    if (failure !== null) found.push(failure);
    if (found.length === failuresMax) break;
    await nextTurn();
    signal?.throwIfAborted();
  }
  return found;
}

function* failures(policy: CompiledPolicy, tests: readonly PolicyTest[]): Generator<PolicyError | null, void> {
  const work = new Work(testsWorkMax);
  for (const [position, test] of tests.entries()) {
    yield failureOf(policy, test, { position, work });
    if (work.isSpent) {
      const message = `the tests of the bundle take more work than ${testsWorkMax / decisionWorkMax} decisions in total: write fewer or simpler ones`;
      yield new PolicyError('TOO_LARGE', `/tests/${position}`, message);
      return;
    }
  }
}

/** The verdict of a policy's rules on the call of a test. */
export function verdictInTest(policy: CompiledPolicy, test: PolicyTest): Verdict {
  return answerOf(outcomeOf(policy, test, decisionWork())).verdict;
}

type Running = { position: number; work: Work };

function failureOf(policy: CompiledPolicy, test: PolicyTest, { position, work }: Running): PolicyError | null {
  const own = decisionWork();
  const difference = differenceOf(test.expect, outcomeOf(policy, test, own));
  work.take(decisionWorkMax - own.left);
  if (difference === null) return null;
  return new PolicyError('TEST_FAILED', `/tests/${position}`, `test "${test.name}" failed: ${difference}`);
}

function outcomeOf(policy: CompiledPolicy, { intent }: PolicyTest, work: Work): RuleOutcome {
  const relations = { ...noneHolds(policy), ...intent.relations };
  return evaluateRules(policy, callOfTest(intent), { now: testNow, relations }, work);
}

function noneHolds({ bundle: { relations = {} } }: CompiledPolicy): Record<string, boolean> {
  return Object.fromEntries(Object.keys(relations).map((name) => [name, false]));
}

function differenceOf(expected: PolicyTest['expect'], outcome: RuleOutcome): string | null {
  const { verdict, reason_code } = answerOf(outcome);
  if (expected.verdict !== verdict) return `expected ${expected.verdict}, got ${verdict} (${reason_code})`;
  if (expected.reason_code !== undefined && expected.reason_code !== reason_code) {
    return `expected ${expected.reason_code}, got ${reason_code}`;
  }
  if (expected.rule !== undefined && !outcome.rules.includes(expected.rule)) {
    return `expected rule ${expected.rule}, got ${outcome.rules.join(', ') || 'none'}`;
  }
  return null;
}

function answerOf(outcome: RuleOutcome): { verdict: Verdict; reason_code: ReasonCode } {
  switch (outcome.kind) {
    case 'allow':
      return { verdict: 'ALLOW', reason_code: 'ALLOWED' };
    case 'escalate':
      return { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' };
    case 'deny':
      return { verdict: 'DENY', reason_code: outcome.code };
  }
}

export function callOfTest(test: PolicyTest['intent']): Intent {
  const { relations: _relations, tool, resource, ...call } = test;
  // Stryker disable next-line StringLiteral: No rule reads the hashes of a call.
  return { ...call, tool: tool ?? null, resource: resource ?? null, args_hash: '', intent_hash: '' };
}
