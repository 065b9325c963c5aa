import { AppError, type IncidentId, type PlanId } from '@countersign/contracts';
import type { OpsTarget, StopKind } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newCommandId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import type { TransactionFor, Tx } from '../store/database.ts';
import { recordEntry } from '../store/incident-entries.ts';
import { findLatestCommand, insertCommand, lockScope, type StoredCommand } from '../store/stops.ts';
import { loosens } from './loosens.ts';
import { requireOngoing } from './require-ongoing.ts';
import { scopeOf } from './target.ts';

type Asked = {
  target: OpsTarget;
  reason: string;
  ttl_seconds?: number | undefined;
  /** Set for a throttle. */
  limit?: number;
  window_seconds?: number;
  incident_id?: IncidentId | undefined;
};

type By = { caller: WorkspaceCaller; requestId: string };

/**
 * The time of a throttle without one of its own: it limits running work, and there is no reminder that it still exists.
 */
const throttleSeconds = 3_600;

/**
 * Writes a stop with its audit entry. The row is the work: it is delivered until the kernel confirms it, whatever becomes of this process.
 * Its end is reckoned by the clock of the database, which the kernel shares, so that a wrong clock here neither shortens nor refuses a stop.
 * Throws ILLEGAL_TRANSITION where it would loosen the stop that stands, or its incident is over, and NOT_FOUND for another's incident.
 */
export async function giveStop(
  { transaction, databaseNow }: Pick<Context, 'databaseNow'> & { transaction: TransactionFor<StoredCommand> },
  kind: StopKind,
  asked: Asked,
  by: By,
): Promise<StoredCommand> {
  return await transaction(async (tx) => {
    const givenAt = await databaseNow(tx);
    return await writeStop(tx, kind, asked, { ...by, givenAt, planId: null, incidentId: asked.incident_id ?? null });
  });
}

type Given = By & { givenAt: Date; planId: PlanId | null; incidentId: IncidentId | null };

/** The same in the caller's transaction. */
export async function writeStop(
  tx: Tx,
  kind: StopKind,
  asked: Asked,
  { caller, requestId, givenAt, planId, incidentId }: Given,
): Promise<StoredCommand> {
  const { workspaceId, userId: givenBy } = caller;
  const { target } = asked;
  const scope = scopeOf(target, workspaceId);
  if (incidentId !== null) await requireOngoing(tx, workspaceId, incidentId);
  const epoch = (await lockScope(tx, { scope, workspaceId })) + 1;
  const terms = termsOf(kind, asked, givenAt);
  const standing = await findLatestCommand(tx, scope);
  if (standing !== null && stopsStill(standing) && loosens(terms, standing, givenAt)) throw wouldLoosen(standing);
  const given = { id: newCommandId(), scope, workspaceId, epoch, givenBy, givenAt, planId, incidentId };
  const command = await insertCommand(tx, { ...terms, ...given, ...nobodyAsked });
  if (incidentId !== null) {
    const entry = { kind: 'commanded', commandId: command.id, by: givenBy, at: givenAt, note: terms.reason } as const;
    await recordEntry(tx, incidentId, entry);
  }
  const { reason, callLimit: limit, windowSeconds: window_seconds } = terms;
  const details = {
    command_id: command.id,
    epoch,
    reason,
    limit,
    window_seconds,
    plan_id: planId,
    incident_id: incidentId,
  };
  const expires_at = terms.expiresAt?.toISOString() ?? null;
  const act = { action: `ops.${kind}`, actor: givenBy, verdict: 'allow', subject: target, requestId } as const;
  await recordAudit(tx, { scope: workspaceId, ...act, details: { ...details, expires_at } }, givenAt);
  return command;
}

type Terms = Pick<StoredCommand, 'kind' | 'reason' | 'callLimit' | 'windowSeconds' | 'expiresAt'>;

/** The terms of a stop that is commanded at `from`, with its end. */
export function termsOf(kind: StopKind, { reason, ttl_seconds, limit, window_seconds }: Asked, from: Date): Terms {
  const expiresAt = endOf(kind, ttl_seconds, from);
  return { kind, reason, callLimit: limit ?? null, windowSeconds: window_seconds ?? null, expiresAt };
}

function endOf(kind: StopKind, ttlSeconds: number | undefined, from: Date): Date | null {
  const seconds = ttlSeconds ?? (kind === 'throttle' ? throttleSeconds : null);
  return seconds === null ? null : new Date(from.getTime() + seconds * 1_000);
}

const nobodyAsked = { decisionId: null, receiptId: null };

/** One that the kernel never took stops nothing. */
function stopsStill({ state }: StoredCommand): boolean {
  return state === 'effective' || state === 'unconfirmed';
}

/** The kernel was reached when the time of the stop was over: nothing was stopped. */
export function endedUndelivered({ kind, expiresAt }: StoredCommand): AppError {
  const end = expiresAt?.toISOString() ?? '';
  return new AppError('END_PASSED', `The ${kind} ended at ${end}, before the kernel had it; nothing was stopped`, {
    param: 'ttl_seconds',
  });
}

export function wouldLoosen({ kind, epoch }: { kind: string; epoch: number }): AppError {
  return new AppError(
    'ILLEGAL_TRANSITION',
    `target is under a ${kind} that stops more, or for longer; resume it before you loosen it`,
    { param: 'target', details: { epoch, allowed: [] } },
  );
}
