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
export async function evaluateAhead(
  ask: AskRules,
  policy: CompiledPolicy,
  { intent, environment, work }: { intent: Intent; environment: Environment; work: Work },
): Promise<RuleEvaluator> {
  try {
    const answer = ask(policy, intent, environment, work);
    const outcome = answer instanceof Promise ? await withDeadline(answer) : answer;
    return () => outcome as ReturnType<typeof evaluateRules>; // decide() checks the shape of the outcome
  } catch (error) {
    return () => {
      throw error;
    };
  }
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
