import type { evaluateRules } from '@countersign/policy';
import type { CompiledPolicy, Intent, RuleEvaluator, Work } from '@countersign/policy';

/** Asks the rules of a bundle. In process it answers at once; an evaluator elsewhere may answer with a promise. */
type Environment = Parameters<typeof evaluateRules>[2];
export type AskRules = (policy: CompiledPolicy, intent: Intent, environment: Environment, work: Work) => unknown;

/** A rule set answers in microseconds; one that has not answered by then will not. */
const evaluationDeadlineMs = 250;

/**
 * Asks before any lock is taken, so that a slow evaluator delays only its own caller. Its answer, a fault or a timeout
 * is judged by decide(): anything but a well-formed outcome denies with PDP_UNAVAILABLE.
 */
export async function evaluateAhead(
  ask: AskRules,
  policy: CompiledPolicy,
  { intent, environment, work }: { intent: Intent; environment: Environment; work: Work },
): Promise<RuleEvaluator> {
  try {
    const answer = ask(policy, intent, environment, work);
    const outcome = answer instanceof Promise ? await withDeadline(answer) : answer;
    return () => outcome as ReturnType<typeof evaluateRules>; // decide() checks the shape of what it is given
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
