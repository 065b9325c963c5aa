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

type Input = {
  target: OpsTarget;
  reason: string;
  ttl_seconds?: number | undefined;
  /** `limit` and `window_seconds` are present only for a throttle. */
  limit?: number;
  window_seconds?: number;
  incident_id?: IncidentId | undefined;
};

type By = { caller: WorkspaceCaller; requestId: string };

/**
 * The default duration of a throttle. A throttle ends by itself, because nothing reminds people that it limits running
 * work.
 */
const throttleSeconds = 3_600;

/**
 * Stores a stop with its audit entry. Delivery is repeated until the kernel confirms or refuses the stop, even if this
 * process dies. The end of the stop uses the clock of the database, which the kernel shares, so a wrong clock here
 * neither shortens nor refuses a stop. Throws ILLEGAL_TRANSITION when the stop would loosen the current one, or its
 * incident is resolved or closed. Throws NOT_FOUND for an incident that the workspace does not have, and like scopeOf.
 */
export async function giveStop(
  { transaction, databaseNow }: Pick<Context, 'databaseNow'> & { transaction: TransactionFor<StoredCommand> },
  kind: StopKind,
  input: Input,
  by: By,
): Promise<StoredCommand> {
  return await transaction(async (tx) => {
    const givenAt = await databaseNow(tx);
    return await writeStop(tx, kind, input, { ...by, givenAt, planId: null, incidentId: input.incident_id ?? null });
  });
}

type Origin = By & { givenAt: Date; planId: PlanId | null; incidentId: IncidentId | null };

/** Stores a stop in the transaction of the caller. */
export async function writeStop(
  tx: Tx,
  kind: StopKind,
  input: Input,
  { caller, requestId, givenAt, planId, incidentId }: Origin,
): Promise<StoredCommand> {
  const { workspaceId, userId: givenBy } = caller;
  const { target } = input;
  const scope = scopeOf(target, workspaceId);
  if (incidentId !== null) await requireOngoing(tx, workspaceId, incidentId);
  const epoch = (await lockScope(tx, { scope, workspaceId })) + 1;
  const terms = termsOf(kind, input, givenAt);
  const current = await findLatestCommand(tx, scope);
  if (current !== null && stopsStill(current) && loosens(terms, current, givenAt)) throw wouldLoosen(current);
  const common = { id: newCommandId(), scope, workspaceId, epoch, givenBy, givenAt, planId, incidentId };
  const command = await insertCommand(tx, { ...terms, ...common, ...nobodyAsked });
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
export function termsOf(kind: StopKind, { reason, ttl_seconds, limit, window_seconds }: Input, from: Date): Terms {
  const expiresAt = endOf(kind, ttl_seconds, from);
  return { kind, reason, callLimit: limit ?? null, windowSeconds: window_seconds ?? null, expiresAt };
}

function endOf(kind: StopKind, ttlSeconds: number | undefined, from: Date): Date | null {
  const seconds = ttlSeconds ?? (kind === 'throttle' ? throttleSeconds : null);
  return seconds === null ? null : new Date(from.getTime() + seconds * 1_000);
}

const nobodyAsked = { decisionId: null, receiptId: null };

/** Whether the command may still stop something. A refused or outdated command stops nothing. */
function stopsStill({ state }: StoredCommand): boolean {
  return state === 'effective' || state === 'unconfirmed';
}

/** The stop ended before the kernel received it, so nothing was stopped. */
export function endedUndelivered({ kind, expiresAt }: StoredCommand): AppError {
  const end = expiresAt?.toISOString() ?? '';
  return new AppError(
    'END_PASSED',
    `The ${kind} ended at ${end}, before the kernel received it, so nothing was stopped. Choose a longer ttl_seconds`,
    {
      param: 'ttl_seconds',
    },
  );
}

export function wouldLoosen({ kind, epoch }: { kind: string; epoch: number }): AppError {
  return new AppError(
    'ILLEGAL_TRANSITION',
    `target is under a ${kind} that stops more, or for longer; resume it before you loosen it`,
    { param: 'target', details: { epoch, allowed: [] } },
  );
}
