import { isAppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { recordAudit } from '../store/audit.ts';
import { reserveDraft } from '../store/draft-holds.ts';
import { mayActivate } from './may-activate.ts';

type Deps = Pick<Context, 'transaction' | 'databaseNow'>;
type Attempt = { caller: WorkspaceCaller; requestId: string };

/**
 * Runs a change of the draft. If it conflicts with the edit of another person, the draft is reserved for a caller who
 * may activate it, so that the next try succeeds. The conflict is thrown all the same.
 */
export async function reserveAfterConflict<Result>(
  deps: Deps,
  { caller, requestId }: Attempt,
  change: () => Promise<Result>,
): Promise<Result> {
  try {
    return await change();
  } catch (error) {
    if (mayActivate(caller) && isConflict(error)) await reserve(deps, { caller, requestId });
    throw error;
  }
}

const isConflict = (error: unknown) =>
  isAppError(error) && (error.code === 'PRECONDITION_FAILED' || error.code === 'ILLEGAL_TRANSITION');

async function reserve(deps: Deps, { caller, requestId }: Attempt): Promise<void> {
  const { workspaceId, userId: by } = caller;
  await deps.transaction(async (tx) => {
    const now = await deps.databaseNow(tx);
    if (!(await reserveDraft(tx, { workspaceId, by, now }))) return;
    const act = { action: 'policy.draft_reserved', actor: by, verdict: 'allow' } as const;
    await recordAudit(tx, { scope: workspaceId, ...act, requestId }, now);
  });
}
