import type { evaluateRules } from '@countersign/policy';
import type { CompiledPolicy, Intent, RuleEvaluator, Work } from '@countersign/policy';

type Environment = Parameters<typeof evaluateRules>[2];

/**
 * Evaluates the rules of a bundle. The evaluator in this process answers synchronously, and a remote one may return a
 * promise.
 */
export type AskRules = (policy: CompiledPolicy, intent: Intent, environment: Environment, work: Work) => unknown;

/** Rules are evaluated in microseconds, so an evaluator that takes this long has failed. */
const evaluationDeadlineMs = 250;

/**
 * Evaluates before any lock is taken, so that a slow evaluator delays only its own caller. The gates judge its answer.
 * A fault, a timeout or a malformed outcome denies with PDP_UNAVAILABLE.
 */
export function evaluateAhead(
  ask: AskRules,
  policy: CompiledPolicy,
  { intent, environment, work }: { intent: Intent; environment: Environment; work: Work },
): RuleEvaluator | Promise<RuleEvaluator> {
  try {
    const answer = ask(policy, intent, environment, work);
    return answer instanceof Promise ? withDeadline(answer).then(answering, failing) : answering(answer);
  } catch (error) {
    return failing(error);
  }
}

function answering(outcome: unknown): RuleEvaluator {
  return () => outcome as ReturnType<typeof evaluateRules>; // decide() checks the shape of the outcome
}

function failing(error: unknown): RuleEvaluator {
  return () => {
    throw error;
  };
}

async function withDeadline(answer: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the policy evaluator did not answer in time')), evaluationDeadlineMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
