import type { ToldCaller, WorkspaceId } from '@countersign/contracts';
import { isKernelAgent, personBehind } from '../guards.ts';
import type { NewReport } from '../store/reports.ts';
import type { ToldReport } from './report-of.ts';

/** Whose failed call it was, and in which workspace if in any. `userId` is null for an agent that the kernel alone knows. */
export type Attribution = { workspaceId: WorkspaceId | null; principal: string; userId: string | null };

type Known = {
  /** The workspace that the request names. */
  addressed: WorkspaceId | null;
  /** Whom the kernel knows by a key of its own. */
  told: ToldCaller | null;
};

/** Null: nobody knows who called. `principal` is what a guard recognised. */
export function attributionOf(principal: unknown, { addressed, told }: Known): Attribution | null {
  const person = personBehind(principal);
  if (person === null) return isKernelAgent(principal) && told !== null ? ofAgent(told) : null;
  const { userId, actor, key } = person;
  // A key is for one workspace. Of a person, the database knows whether he is a member.
  const keyOf = key?.membership.workspaceId ?? null;
  const isElsewhere = keyOf !== null && addressed !== null && addressed !== keyOf;
  return { workspaceId: isElsewhere ? null : (addressed ?? keyOf), principal: actor, userId };
}

function ofAgent({ workspace_id, key_id }: ToldCaller): Attribution {
  return { workspaceId: workspace_id, principal: key_id, userId: null };
}

/** A report before anybody has looked whose it is. */
export type UnkeptReport = { report: ToldReport; approvalId: string | null; whose(): Promise<Attribution | null> };

/** Those whose callers are known. One is looked up at a time, so that a loop of failing calls takes one connection. */
export async function attributed(batch: readonly UnkeptReport[]): Promise<NewReport[]> {
  const known: NewReport[] = [];
  for (const { report, approvalId, whose } of batch) {
    const found = await whose();
    if (found === null) continue;
    const { userId, ...place } = found;
    known.push({ report: { ...report, ...place }, userId, approvalId });
  }
  return known;
}
