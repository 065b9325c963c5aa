import { AppError, isAppError, type WorkspaceId } from '@countersign/contracts';
import type { PlanStep } from '@countersign/contracts/control-plane';
import { getFence, type Fence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { termsOf, wouldLoosen } from '../ops/give-stop.ts';
import { loosens, stoppingOf } from '../ops/loosens.ts';
import { scopeOf } from '../ops/target.ts';
import { answerOf } from '../siblings/answer-of.ts';

/**
 * Checks that each step matches a possible call and loosens no current stop, and that no target occurs twice. One
 * refused step would fail the commit of the whole plan. Throws NOT_FOUND, INVALID_REQUEST, ILLEGAL_TRANSITION and
 * GOVERNANCE_UNAVAILABLE.
 */
export async function requireTighter(
  context: Pick<Context, 'kernel' | 'now'>,
  steps: readonly PlanStep[],
  workspaceId: WorkspaceId,
): Promise<void> {
  const now = context.now();
  const scopes = steps.map(({ target }) => scopeOf(target, workspaceId));
  if (new Set(scopes).size < scopes.length)
    throw new AppError('INVALID_REQUEST', 'steps contains one target in two spellings. Use one spelling', {
      param: 'steps',
    });
  for (const [nth, step] of steps.entries()) {
    const scope = scopes[nth];
    const current = scope === undefined ? null : await findFence(context, scope);
    if (current !== null && loosens(termsOf(step.kind, step, now), stoppingOf(current), now))
      throw wouldLoosen(current);
  }
}

async function findFence({ kernel }: Pick<Context, 'kernel'>, scope: FenceScope): Promise<Fence | null> {
  try {
    return await answerOf('kernel', () => kernel.own({ getFence }).getFence({ params: { scope } }));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    if (isAppError(error) && error.code === 'INVALID_REQUEST')
      throw new AppError(
        'INVALID_REQUEST',
        'steps contains a target that matches no possible call. Check its spelling',
        { param: 'steps' },
      );
    throw error;
  }
}
