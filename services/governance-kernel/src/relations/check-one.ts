import type { Digest, Instant, SnapshotId, TenantId } from '@countersign/contracts';
import type { CheckReason } from '@countersign/contracts/governance-kernel';
import type { RelationQuestion } from '@countersign/policy';
import type { z } from 'zod';
import { isFresh } from './freshness.ts';
import type { Relations } from './relation-source.ts';
import type { SnapshotRow } from './snapshot-view.ts';

type Parts = {
  relations: Relations;
  findSnapshot(tenant: string, version: number): Promise<SnapshotRow | null>;
  clock: () => Date;
  config: { relationsAgeMaxMs: number };
};

type Checked = {
  decision: boolean;
  snapshot_id: SnapshotId | null;
  snapshot_hash: Digest | null;
  path: string[];
  reason: z.infer<typeof CheckReason> | null;
  checked_at: Instant;
};

/** One question, asked of the snapshot that stands. A stale snapshot means no. */
export function checkOne(
  { relations, findSnapshot, clock, config }: Parts,
  tenant: TenantId,
  question: RelationQuestion,
): Promise<Checked> {
  return relations.atOneSnapshot(tenant, async (head): Promise<Checked> => {
    const nowMs = clock().getTime();
    const snapshot = head === null ? null : await findSnapshot(tenant, head.version);
    const under = {
      snapshot_id: snapshot?.id ?? null,
      snapshot_hash: head?.hash ?? null,
      checked_at: new Date(nowMs).toISOString() as Instant, // toISOString writes exactly this form
    };
    if (head === null || !isFresh(head, { nowMs, ageMaxMs: config.relationsAgeMaxMs }))
      return { decision: false, path: [], reason: 'AUTHZ_SNAPSHOT_STALE', ...under };
    const { path, isCut } = (await relations.load(tenant, [question])).find(question);
    return { decision: path !== null, path: [...(path ?? [])], reason: isCut ? 'WORK_EXCEEDED' : null, ...under };
  });
}
