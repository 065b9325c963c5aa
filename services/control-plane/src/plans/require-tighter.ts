import { AppError, isAppError, type WorkspaceId } from '@countersign/contracts';
import type { PlanStep } from '@countersign/contracts/control-plane';
import { getFence, type Fence, type FenceScope } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { termsOf, wouldLoosen } from '../ops/give-stop.ts';
import { loosens, stoppingOf } from '../ops/loosens.ts';
import { scopeOf } from '../ops/target.ts';
import { answerOf } from '../siblings/answer-of.ts';

/**
 * Each step has to stop something that a call could have, and loosen nothing that stands: one that the kernel would not take would fail the
 * others. Throws INVALID_REQUEST, ILLEGAL_TRANSITION and GOVERNANCE_UNAVAILABLE.
 */
export async function requireTighter(
  context: Pick<Context, 'kernel' | 'now'>,
  steps: readonly PlanStep[],
  workspaceId: WorkspaceId,
): Promise<void> {
  const now = context.now();
  const scopes = steps.map(({ target }) => scopeOf(target, workspaceId));
  if (new Set(scopes).size < scopes.length)
    throw new AppError('INVALID_REQUEST', 'steps name one target in two spellings', { param: 'steps' });
  for (const [nth, step] of steps.entries()) {
    const scope = scopes[nth];
    const standing = scope === undefined ? null : await findFence(context, scope);
    if (standing !== null && loosens(termsOf(step.kind, step, now), stoppingOf(standing), now))
      throw wouldLoosen(standing);
  }
}

async function findFence({ kernel }: Pick<Context, 'kernel'>, scope: FenceScope): Promise<Fence | null> {
  try {
    return await answerOf('kernel', () => kernel.own({ getFence }).getFence({ params: { scope } }));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    if (isAppError(error) && error.code === 'INVALID_REQUEST')
      throw new AppError('INVALID_REQUEST', 'steps name a target that no call could have', { param: 'steps' });
    throw error;
  }
}
