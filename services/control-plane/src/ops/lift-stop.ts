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

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'databaseNow' | 'transaction'>;
type LiftStopDeps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;

type Input = { target: OpsTarget; reason: string; epoch?: number | undefined };
type By = { caller: WorkspaceCaller; requestId: string; transaction: TransactionFor<StoredCommand> };

const liftsAll = { kind: 'open', callLimit: null, windowSeconds: null, expiresAt: null } as const;
/** A command that lifts a fence belongs to no plan and no incident. */
const forNothing = { planId: null, incidentId: null };

/**
 * Lifts the fence on a target. The kernel decides about exactly this fence. An allowed lift is stored and delivered
 * like a stop. Throws ILLEGAL_TRANSITION when no fence is in force, the latest command is unconfirmed, or a later
 * command came in the meantime. Throws POLICY_DENIED, APPROVAL_NEEDED and GOVERNANCE_UNAVAILABLE. The fence is then
 * unchanged.
 */
export async function liftStop(
  context: Deps,
  input: Input,
  { caller, requestId, transaction }: By,
): Promise<StoredCommand> {
  const { target, reason } = input;
  const { workspaceId, userId: givenBy } = caller;
  const scope = scopeOf(target, workspaceId);
  const { epoch: lifted, kind } = await getStanding(context, scope);
  if (input.epoch !== undefined && input.epoch !== lifted) throw nothingToLift('was stopped again in the meantime');
  const id = newCommandId();
  const resource = fenceLiftResource({ scope, epoch: lifted });
  const change = { action: 'fence.lift', object: 'fences', effectLevel: 'E3', resource, key: id } as const;
  const { decision_id: decisionId, receipt_id: receiptId } = await proposeChange(context, change, caller);
  return await transaction(async (tx) => {
    // A newer command was given after the decision, so its author had later information. The lift is refused.
    if ((await lockScope(tx, { scope, workspaceId })) > lifted)
      throw nothingToLift('was stopped again in the meantime');
    const epoch = lifted + 1;
    const givenAt = await context.databaseNow(tx);
    const allowed = { decisionId, receiptId };
    const common = { id, scope, workspaceId, epoch, reason, givenBy, givenAt };
    const command = await insertCommand(tx, { ...liftsAll, ...forNothing, ...common, ...allowed });
    const details = { command_id: id, epoch, reason, lifted: kind, decision_id: decisionId, receipt_id: receiptId };
    const act = { action: 'ops.open', actor: givenBy, verdict: 'allow', subject: target, requestId } as const;
    await recordAudit(tx, { ...act, scope: workspaceId, details }, givenAt);
    return command;
  });
}

/**
 * The fence at the kernel after the commands of this service were delivered. Throws ILLEGAL_TRANSITION when no fence is
 * in force, or the latest command is unconfirmed.
 */
async function getStanding(context: LiftStopDeps, scope: FenceScope): Promise<Fence> {
  await deliverCommands(context, scope).catch((error: unknown) =>
    context.log.warn('stop.undelivered', { scope, error }),
  );
  const fence = await findFence(context, scope);
  const latest = await findLatestCommand(context.database.reader, scope);
  // A command that the kernel has not received would take effect after the fence is lifted.
  if (latest?.state === 'unconfirmed') throw nothingToLift('is under a stop that the kernel has not confirmed');
  if (fence === null || fence.kind === 'open' || hasEnded(fence, await context.database.nowMs()))
    throw nothingToLift('is under no stop of its own');
  return fence;
}

async function findFence({ kernel }: Pick<Context, 'kernel'>, scope: FenceScope): Promise<Fence | null> {
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
