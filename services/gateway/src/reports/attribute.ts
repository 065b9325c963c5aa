import type { ToldCaller, WorkspaceId } from '@countersign/contracts';
import type { NewReport } from '../store/reports.ts';
import { isKernelAgent, personBehind } from './person-behind.ts';
import type { ToldReport } from './report-of.ts';

/**
 * The caller of a failed call, and the workspace, if any. `userId` is `null` for an agent that only the kernel knows.
 */
export type Attribution = { workspaceId: WorkspaceId | null; principal: string; userId: string | null };

type Basis = {
  /** The workspace that the request names. */
  addressed: WorkspaceId | null;
  /** The agent that the kernel identified by the agent's own key. */
  identified: ToldCaller | null;
};

/** `null` when the caller is unknown. `principal` is the result of the guard. */
export function attributionOf(principal: unknown, { addressed, identified }: Basis): Attribution | null {
  const person = personBehind(principal);
  if (person === null) return isKernelAgent(principal) && identified !== null ? ofAgent(identified) : null;
  const { userId, actor, within } = person;
  // A key or a program belongs to one workspace. For a person, the membership is checked when the report is stored.
  const isElsewhere = within !== null && addressed !== null && addressed !== within;
  return { workspaceId: isElsewhere ? null : (addressed ?? within), principal: actor, userId };
}

function ofAgent({ workspace_id, key_id }: ToldCaller): Attribution {
  return { workspaceId: workspace_id, principal: key_id, userId: null };
}

type Unkept = { report: ToldReport; approvalId: string | null };
/** A report of a call whose caller has not been looked up yet. */
export type UnjudgedReport = Unkept & { whose(): Promise<Attribution | null> };

export function reportFor({ report, approvalId }: Unkept, { userId, ...place }: Attribution): NewReport {
  return { report: { ...report, ...place }, userId, approvalId };
}

/**
 * The reports with a known caller. Callers are looked up one at a time, so a loop of failing calls uses one
 * connection.
 */
export async function attributed(batch: readonly UnjudgedReport[]): Promise<NewReport[]> {
  const existing: NewReport[] = [];
  for (const unjudged of batch) {
    const whose = await unjudged.whose();
    if (whose !== null) existing.push(reportFor(unjudged, whose));
  }
  return existing;
}
