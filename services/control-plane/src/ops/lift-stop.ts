import { AppError, isAppError } from '@countersign/contracts';
import type { OpsTarget } from '@countersign/contracts/control-plane';
import { fenceLiftResource, getFence, type Fence, type FenceScope } from '@countersign/contracts/governance-kernel';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newCommandId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import type { TransactionFor } from '../store/database.ts';
import { findLatestCommand, insertCommand, lockScope, type StoredCommand } from '../store/stops.ts';
import { deliverCommands } from './deliver-commands.ts';
import { scopeOf } from './target.ts';

type Asked = { target: OpsTarget; reason: string; epoch?: number | undefined };
type By = { caller: WorkspaceCaller; requestId: string; transaction: TransactionFor<StoredCommand> };

const liftsAll = { kind: 'open', callLimit: null, windowSeconds: null, expiresAt: null } as const;
/** A lifted stop states its plan and incident. */
const forNothing = { planId: null, incidentId: null };

/**
 * Lifts the fence that stands around a target: the kernel decides about exactly this one, and what it allowed is
 * written and delivered like a stop. Throws ILLEGAL_TRANSITION where nothing is in force or another stop came in the
 * meantime, POLICY_DENIED, APPROVAL_NEEDED and GOVERNANCE_UNAVAILABLE; the fence is then unchanged.
 */
export async function liftStop(
  context: Context,
  asked: Asked,
  { caller, requestId, transaction }: By,
): Promise<StoredCommand> {
  const { target, reason } = asked;
  const { workspaceId, userId: givenBy } = caller;
  const scope = scopeOf(target, workspaceId);
  const { epoch: lifted, kind } = await getStanding(context, scope);
  if (asked.epoch !== undefined && asked.epoch !== lifted) throw nothingToLift('was stopped again in the meantime');
  const id = newCommandId();
  const resource = fenceLiftResource({ scope, epoch: lifted });
  const change = { action: 'fence.lift', object: 'fences', effectLevel: 'E3', resource, key: id } as const;
  const { decision_id: decisionId, receipt_id: receiptId } = await proposeChange(context, change, caller);
  return await transaction(async (tx) => {
    // The author of the newer stop knew more than the decision did.
    if ((await lockScope(tx, { scope, workspaceId })) > lifted)
      throw nothingToLift('was stopped again in the meantime');
    const epoch = lifted + 1;
    const givenAt = await context.databaseNow(tx);
    const allowed = { decisionId, receiptId };
    const given = { id, scope, workspaceId, epoch, reason, givenBy, givenAt };
    const command = await insertCommand(tx, { ...liftsAll, ...forNothing, ...given, ...allowed });
    const details = { command_id: id, epoch, reason, lifted: kind, decision_id: decisionId, receipt_id: receiptId };
    const act = { action: 'ops.open', actor: givenBy, verdict: 'allow', subject: target, requestId } as const;
    await recordAudit(tx, { ...act, scope: workspaceId, details }, givenAt);
    return command;
  });
}

/** The state that the kernel reaches after all commands of this service. */
async function getStanding(context: Context, scope: FenceScope): Promise<Fence> {
  await deliverCommands(context, scope).catch((error: unknown) =>
    context.log.warn('stop.undelivered', { scope, error }),
  );
  const fence = await findFence(context, scope);
  const latest = await findLatestCommand(context.database.reader, scope);
  // One that the kernel has yet to hear of would come after what is lifted now.
  if (latest?.state === 'unconfirmed') throw nothingToLift('is under a stop that the kernel has not confirmed');
  if (fence === null || fence.kind === 'open' || hasEnded(fence, await context.database.nowMs()))
    throw nothingToLift('is under no stop of its own');
  return fence;
}

async function findFence({ kernel }: Context, scope: FenceScope): Promise<Fence | null> {
  try {
    return await answerOf('kernel', () => kernel.own({ getFence }).getFence({ params: { scope } }));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

function hasEnded({ expires_at }: Fence, nowMs: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= nowMs;
}

function nothingToLift(why: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', `target ${why}`, { param: 'target', details: { allowed: [] } });
}
