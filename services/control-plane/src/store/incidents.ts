import { AppError, IncidentId, PrincipalId, ReceiptId, WorkspaceId, type UserId } from '@countersign/contracts';
import { IncidentCategory, IncidentSeverity, IncidentState } from '@countersign/contracts/control-plane';
import type { IncidentModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

export type StoredIncident = {
  id: IncidentId;
  workspaceId: WorkspaceId;
  title: string;
  severity: IncidentSeverity;
  category: IncidentCategory;
  /** A key has at most one incident that is not closed. */
  dedupKey: string;
  state: IncidentState;
  /** Rises with each move and each further sighting. */
  version: number;
  recurrence: number;
  /** A person, or an API key. */
  owner: UserId | PrincipalId | null;
  receipts: ReceiptId[];
  /** `null` when the control plane itself opened it. */
  openedBy: UserId | PrincipalId | null;
  openedAt: Date;
  lastSeenAt: Date;
  updatedAt: Date;
};

/** `false` when its key has an incident that is not closed. */
export async function insertIncident(tx: Tx, incident: StoredIncident): Promise<boolean> {
  const { count } = await tx.incident.createMany({ data: incident, skipDuplicates: true });
  return count === 1;
}

export async function findIncident(
  reader: Reader,
  workspaceId: WorkspaceId,
  id: IncidentId,
): Promise<StoredIncident | null> {
  const row = await reader.incident.findFirst({ where: { id, workspaceId } });
  return row === null ? null : incidentOf(row);
}

/** Locks the incident until the transaction ends, so that no other request moves it or stops anything for it. */
export async function lockIncident(tx: Tx, workspaceId: WorkspaceId, id: IncidentId): Promise<StoredIncident | null> {
  await tx.$executeRaw`SELECT FROM incidents WHERE id = ${id} AND workspace_id = ${workspaceId} FOR UPDATE`;
  return await findIncident(tx, workspaceId, id);
}

/** Locks the incident of this key that is not closed. */
export async function lockUnclosed(tx: Tx, workspaceId: WorkspaceId, dedupKey: string): Promise<StoredIncident | null> {
  await tx.$executeRaw`
    SELECT FROM incidents WHERE workspace_id = ${workspaceId} AND dedup_key = ${dedupKey} AND state <> 'closed' FOR UPDATE`;
  const row = await tx.incident.findFirst({ where: { workspaceId, dedupKey, NOT: { state: 'closed' } } });
  return row === null ? null : incidentOf(row);
}

/** Writes the changes of an incident that the caller has locked. */
export async function writeIncident(tx: Tx, { id, workspaceId, ...changed }: StoredIncident): Promise<void> {
  await tx.incident.updateMany({ where: { id, workspaceId }, data: changed });
}

type Input = { state?: IncidentState | undefined; limit: number; cursor?: string | undefined };
type Page = { incidents: StoredIncident[]; nextCursor: string | null };

/** Newest first. */
export async function listIncidents(
  reader: Reader,
  workspaceId: WorkspaceId,
  { state, limit, cursor }: Input,
): Promise<Page> {
  const rows = await reader.incident.findMany({
    where: {
      workspaceId,
      ...(state === undefined ? {} : { state }),
      ...(cursor === undefined ? {} : { id: { lt: idOf(cursor) } }),
    },
    orderBy: { id: 'desc' },
    take: limit + 1,
  });
  const incidents = rows.slice(0, limit).map(incidentOf);
  const last = rows.length > limit ? incidents.at(-1) : undefined;
  return { incidents, nextCursor: last === undefined ? null : Buffer.from(last.id).toString('base64url') };
}

/** The most incidents that one snapshot counts. */
export const countedIncidentsMax = 200;

/**
 * Counts the incidents that no caller has acknowledged. The count has an upper bound, since every open page requests
 * it.
 */
export async function countOpenIncidents(reader: Reader, workspaceId: WorkspaceId): Promise<number> {
  return await reader.incident.count({ where: { workspaceId, state: 'open' }, take: countedIncidentsMax });
}

/** The id in a cursor, which is attacker-controlled. */
function idOf(cursor: string): IncidentId {
  const id = IncidentId.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (id.success) return id.data;
  throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', {
    param: 'cursor',
  });
}

function incidentOf(row: IncidentModel): StoredIncident {
  const { id, workspaceId, severity, category, state, owner, openedBy, receipts, ...plain } = row;
  return {
    ...plain,
    id: IncidentId.parse(id),
    workspaceId: WorkspaceId.parse(workspaceId),
    severity: IncidentSeverity.parse(severity),
    category: IncidentCategory.parse(category),
    state: IncidentState.parse(state),
    owner: owner === null ? null : PrincipalId.parse(owner),
    openedBy: openedBy === null ? null : PrincipalId.parse(openedBy),
    receipts: receipts.map((receipt) => ReceiptId.parse(receipt)),
  };
}
