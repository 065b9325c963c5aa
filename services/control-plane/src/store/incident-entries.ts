import {
  instantOf,
  type CommandId,
  type IncidentId,
  type PlanId,
  type PrincipalId,
  type UserId,
} from '@countersign/contracts';
import { IncidentEntry, type IncidentState, type OpsTarget } from '@countersign/contracts/control-plane';
import type { IncidentEntryModel } from '../generated/prisma/models.ts';
import { newIncidentEntryId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';

/** One event of an incident. */
type Happened =
  | { kind: 'opened' }
  | { kind: 'seen_again'; recurrence: number }
  | { kind: 'moved'; from: IncidentState; to: IncidentState; standing: OpsTarget[] }
  | { kind: 'commanded'; commandId: CommandId }
  | { kind: 'planned'; planId: PlanId };

type NewEntry = Happened & {
  /** `null` when the control plane itself acted. */
  by: UserId | PrincipalId | null;
  at: Date;
  note: string;
};

/** Appends to the timeline of an incident that the caller has locked, so that entries are in chronological order. */
export async function recordEntry(tx: Tx, incidentId: IncidentId, entry: NewEntry): Promise<void> {
  await tx.incidentEntry.create({ data: { ...entry, id: newIncidentEntryId(), incidentId } });
}

/** The newest entries, oldest first. */
export async function listTimeline(reader: Reader, incidentId: IncidentId, limit: number): Promise<IncidentEntry[]> {
  const rows = await reader.incidentEntry.findMany({ where: { incidentId }, orderBy: { id: 'desc' }, take: limit });
  return rows.reverse().map(entryOf);
}

function entryOf({ kind, at, by, note, ...of }: IncidentEntryModel): IncidentEntry {
  const entry = { kind, at: instantOf(at), by, note };
  return IncidentEntry.parse({ ...entry, ...membersOf(entry.kind, of) });
}

type Members = Pick<IncidentEntryModel, 'from' | 'to' | 'standing' | 'recurrence' | 'commandId' | 'planId'>;

function membersOf(kind: string, { from, to, standing, recurrence, commandId, planId }: Members): object {
  const members: Record<string, object> = {
    seen_again: { recurrence },
    moved: { from, to, standing },
    commanded: { command_id: commandId },
    planned: { plan_id: planId },
  };
  return members[kind] ?? {};
}
