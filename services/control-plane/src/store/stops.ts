import { CommandId, DecisionId, IncidentId, PlanId, ReceiptId, WorkspaceId } from '@countersign/contracts';
import { CommandKind } from '@countersign/contracts/control-plane';
import { FenceScope } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

/**
 * The state of a command. `outdated`: the command had ended before it reached the kernel, or the kernel's fence has a
 * later epoch or stops more. `refused`: the command cannot stop anything.
 */
type CommandState = 'unconfirmed' | 'effective' | 'outdated' | 'refused';

export type StoredCommand = {
  id: CommandId;
  workspaceId: WorkspaceId;
  scope: FenceScope;
  /** The epoch of the scope, which only rises. */
  epoch: number;
  kind: CommandKind;
  reason: string;
  callLimit: number | null;
  windowSeconds: number | null;
  givenBy: string;
  givenAt: Date;
  expiresAt: Date | null;
  /** The decision that permitted lifting the stop. `null` for a stop, which needs none. */
  decisionId: DecisionId | null;
  receiptId: ReceiptId | null;
  state: CommandState;
  effectiveAt: Date | null;
  /** `null` when no plan contains it. */
  planId: PlanId | null;
  /** `null` when it belongs to no incident. */
  incidentId: IncidentId | null;
};

type Plain = 'id' | 'workspaceId' | 'scope' | 'kind' | 'state';
type Named = 'decisionId' | 'receiptId' | 'planId' | 'incidentId';
type Row = Omit<StoredCommand, Plain | Named> & Record<Plain, string> & Record<Named, string | null>;

type Scoped = { scope: FenceScope; workspaceId: WorkspaceId };

/** The epoch of the scope's latest command. 0 before the first. Locks the scope until the transaction ends. */
export async function lockScope(tx: Tx, { scope, workspaceId }: Scoped): Promise<number> {
  await tx.stopScope.createMany({ data: { scope, workspaceId, epoch: 0 }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM stop_scopes WHERE scope = ${scope} FOR UPDATE`;
  const { epoch } = await tx.stopScope.findUniqueOrThrow({ where: { scope, workspaceId } });
  return epoch;
}

type NewCommand = Omit<StoredCommand, 'state' | 'effectiveAt'>;

/** Inserts the latest command of a scope that the caller has locked. */
export async function insertCommand(tx: Tx, command: NewCommand): Promise<StoredCommand> {
  const { scope, epoch } = command;
  await tx.stopScope.update({ where: { scope }, data: { epoch } });
  return commandOf(await tx.stopCommand.create({ data: { ...command, state: 'unconfirmed' } }));
}

/** Raises the epoch of the latest command of a scope to `epoch`, which is above the kernel's. */
export async function raiseEpoch(tx: Tx, { id, scope }: StoredCommand, epoch: number): Promise<void> {
  await tx.stopScope.update({ where: { scope }, data: { epoch } });
  await tx.stopCommand.update({ where: { id, state: 'unconfirmed' }, data: { epoch } });
}

/** `false` when another delivery has already recorded the result. */
export async function endDelivery(
  tx: Tx,
  { id }: Pick<StoredCommand, 'id'>,
  to: { state: Exclude<CommandState, 'unconfirmed'>; effectiveAt: Date | null },
): Promise<boolean> {
  const { count } = await tx.stopCommand.updateMany({ where: { id, state: 'unconfirmed' }, data: to });
  return count === 1;
}

export async function getCommand(reader: Reader, id: CommandId): Promise<StoredCommand> {
  return commandOf(await reader.stopCommand.findUniqueOrThrow({ where: { id } }));
}

export async function findLatestCommand(reader: Reader, scope: FenceScope): Promise<StoredCommand | null> {
  const row = await reader.stopCommand.findFirst({ where: { scope }, orderBy: { epoch: 'desc' } });
  return row === null ? null : commandOf(row);
}

/** The scopes that people of the workspace have ever stopped. */
export async function listScopes(reader: Reader, workspaceId: WorkspaceId, limit: number): Promise<FenceScope[]> {
  const rows = await reader.stopScope.findMany({ where: { workspaceId }, orderBy: { scope: 'asc' }, take: limit });
  return rows.map(({ scope }) => FenceScope.parse(scope));
}

/** Marks a command as unconfirmed, since the kernel has lost it, if it is the latest of its scope. */
export async function deliverAnew(tx: Tx, { id, scope, workspaceId, epoch }: StoredCommand): Promise<void> {
  if ((await lockScope(tx, { scope, workspaceId })) !== epoch) return;
  const data = { state: 'unconfirmed', effectiveAt: null };
  await tx.stopCommand.updateMany({ where: { id, state: 'effective' }, data });
}

/** The commands of the scope that the kernel has not confirmed, in the order of their epochs. */
export async function listUndelivered(reader: Reader, scope: FenceScope, limit: number): Promise<StoredCommand[]> {
  const where = { scope, state: 'unconfirmed' };
  return (await reader.stopCommand.findMany({ where, orderBy: { epoch: 'asc' }, take: limit })).map(commandOf);
}

/** The commands of the workspace that the kernel has not confirmed, oldest first. */
export async function listUnconfirmed(
  reader: Reader,
  workspaceId: WorkspaceId,
  limit: number,
): Promise<StoredCommand[]> {
  const where = { workspaceId, state: 'unconfirmed' };
  return (await reader.stopCommand.findMany({ where, orderBy: { id: 'asc' }, take: limit })).map(commandOf);
}

/**
 * Commands of all workspaces that were issued before `before` and that the kernel has not confirmed, oldest first.
 * Commands that were already reported under `dedupKey` are omitted.
 */
export async function listOverdue(
  tx: Tx,
  { before, dedupKey, limit }: { before: Date; dedupKey: string; limit: number },
): Promise<StoredCommand[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT waiting.id FROM stop_commands waiting
     WHERE waiting.state = 'unconfirmed' AND waiting.given_at < ${before}
       AND NOT EXISTS (SELECT FROM incident_sightings seen
                        WHERE seen.workspace_id = waiting.workspace_id AND seen.dedup_key = ${dedupKey} AND seen.sighting = waiting.id)
     ORDER BY waiting.given_at LIMIT ${limit}`;
  const where = { id: { in: rows.map(({ id }) => id) } };
  return (await tx.stopCommand.findMany({ where, orderBy: { id: 'asc' } })).map(commandOf);
}

/** The commands of a plan. */
export async function listCommandsOf(reader: Reader, { id: planId }: { id: PlanId }): Promise<StoredCommand[]> {
  return (await reader.stopCommand.findMany({ where: { planId }, orderBy: { id: 'asc' } })).map(commandOf);
}

/** The commands for an incident, newest first. */
export async function listCommandsFor(reader: Reader, incidentId: IncidentId, limit: number): Promise<StoredCommand[]> {
  const rows = await reader.stopCommand.findMany({ where: { incidentId }, orderBy: { id: 'desc' }, take: limit });
  return rows.map(commandOf);
}

/**
 * Stops of an incident that are in force, or may come into force: the kernel has confirmed no later command for their
 * scope. A later unconfirmed command may never apply, so it ends no stop.
 */
export async function listStandingFor(reader: Reader, incidentId: IncidentId, now: Date): Promise<StoredCommand[]> {
  const values = await reader.stopCommand.findMany({
    where: {
      incidentId,
      state: { in: ['effective', 'unconfirmed'] },
      OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
      NOT: { kind: 'open' },
    },
    orderBy: [{ scope: 'asc' }, { epoch: 'desc' }],
    distinct: ['scope'],
  });
  const active = await Promise.all(
    values.map(async (row) => {
      const later = { scope: row.scope, epoch: { gt: row.epoch }, state: 'effective' };
      return (await reader.stopCommand.findFirst({ where: later, select: { id: true } })) === null ? [row] : [];
    }),
  );
  return active.flat().map(commandOf);
}

/** Counts the commands of the workspace that the kernel has not confirmed. */
export async function countUnconfirmed(reader: Reader, workspaceId: WorkspaceId): Promise<number> {
  return reader.stopCommand.count({ where: { workspaceId, state: 'unconfirmed' } });
}

/** Scopes after `after` with commands to deliver, and whether there may be more. */
export async function listUndeliveredScopes(
  reader: Reader,
  { after, limit }: { after: string; limit: number },
): Promise<{ scopes: FenceScope[]; mayBeMore: boolean }> {
  const rows = await reader.stopCommand.findMany({
    where: { state: 'unconfirmed', scope: { gt: after } },
    orderBy: [{ scope: 'asc' }, { epoch: 'asc' }],
    select: { scope: true },
    take: limit,
  });
  const scopes = [...new Set(rows.map(({ scope }) => FenceScope.parse(scope)))];
  return { scopes, mayBeMore: rows.length === limit };
}

function commandOf({
  id,
  workspaceId,
  scope,
  kind,
  decisionId,
  receiptId,
  state,
  planId,
  incidentId,
  ...rest
}: Row): StoredCommand {
  return {
    id: CommandId.parse(id),
    workspaceId: WorkspaceId.parse(workspaceId),
    scope: FenceScope.parse(scope),
    kind: CommandKind.parse(kind),
    decisionId: decisionId === null ? null : DecisionId.parse(decisionId),
    receiptId: receiptId === null ? null : ReceiptId.parse(receiptId),
    state: state as CommandState, // the table has no other values
    planId: planId === null ? null : PlanId.parse(planId),
    incidentId: incidentId === null ? null : IncidentId.parse(incidentId),
    ...rest,
  };
}
