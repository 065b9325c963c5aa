import {
  AppError,
  type Digest,
  type Instant,
  type UserId,
  type WhatIfId,
  type WorkspaceId,
} from '@countersign/contracts';
import type { WhatIfJob } from '@countersign/contracts/control-plane';
import type { Tx } from '../store/database.ts';
import { lockDraft, requireDraftNotHeld } from '../store/draft-holds.ts';
import { findDraft } from '../store/policy-drafts.ts';
import { findJob, insertJob } from '../store/what-if-jobs.ts';

type Requested = {
  id: WhatIfId;
  workspaceId: WorkspaceId;
  policyHash: Digest;
  bundle: string;
  from: Instant | null;
  to: Instant | null;
  decisionsMax: number;
  askedBy: UserId;
  holdsDraft: boolean;
};

/**
 * Queues a report. A new report replaces the running one, so a member cannot request one while an owner has locked the
 * draft.
 */
export async function requestReport(tx: Tx, job: Requested, now: Date): Promise<WhatIfJob> {
  const { id, workspaceId, policyHash, holdsDraft } = job;
  await lockDraft(tx, workspaceId);
  if (!holdsDraft) await requireDraftNotHeld(tx, workspaceId, now);
  requireCompiledTo(policyHash, await findDraft(tx, workspaceId));
  await insertJob(tx, { ...job, createdAt: now });
  const written = await findJob(tx, workspaceId, id);
  if (written === null) throw new Error('The report is missing after it was written');
  return written;
}

export function requireCompiledTo<Draft extends { policy_hash: Digest | null }>(
  policyHash: Digest,
  draft: Draft | null,
): Draft {
  if (draft?.policy_hash === policyHash) return draft;
  throw new AppError(
    'ILLEGAL_TRANSITION',
    'policy_hash differs from that of the compiled draft. Compile the draft again',
    {
      param: 'policy_hash',
      details: { policy_hash: draft?.policy_hash ?? null },
    },
  );
}
