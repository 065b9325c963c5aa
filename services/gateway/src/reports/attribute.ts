import type { ToldCaller, WorkspaceId } from '@countersign/contracts';
import { isKernelAgent, personBehind } from '../guards.ts';
import type { NewReport } from '../store/reports.ts';
import type { ToldReport } from './report-of.ts';

/**
 * The caller of a failed call, and the workspace, if any. `userId` is null for an agent that the kernel alone knows.
 */
export type Attribution = { workspaceId: WorkspaceId | null; principal: string; userId: string | null };

type Known = {
  /** The workspace that the request names. */
  addressed: WorkspaceId | null;
  /** The caller that the kernel knows by a key of its own. */
  told: ToldCaller | null;
};

/** `null` when the caller is unknown. `principal` is what a guard recognised. */
export function attributionOf(principal: unknown, { addressed, told }: Known): Attribution | null {
  const person = personBehind(principal);
  if (person === null) return isKernelAgent(principal) && told !== null ? ofAgent(told) : null;
  const { userId, actor, within } = person;
  // A key or a program is for one workspace. The database knows whether a person is a member.
  const isElsewhere = within !== null && addressed !== null && addressed !== within;
  return { workspaceId: isElsewhere ? null : (addressed ?? within), principal: actor, userId };
}

function ofAgent({ workspace_id, key_id }: ToldCaller): Attribution {
  return { workspaceId: workspace_id, principal: key_id, userId: null };
}

type Unkept = { report: ToldReport; approvalId: string | null };
/** A report of a call whose caller is not looked up yet. */
export type UnjudgedReport = Unkept & { whose(): Promise<Attribution | null> };

export function reportFor({ report, approvalId }: Unkept, { userId, ...place }: Attribution): NewReport {
  return { report: { ...report, ...place }, userId, approvalId };
}

/** Those whose callers are known. One is looked up at a time, so that a loop of failing calls takes one connection. */
export async function attributed(batch: readonly UnjudgedReport[]): Promise<NewReport[]> {
  const known: NewReport[] = [];
  for (const unjudged of batch) {
    const whose = await unjudged.whose();
    if (whose !== null) known.push(reportFor(unjudged, whose));
  }
  return known;
}
