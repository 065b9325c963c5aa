import { instantOf, type Digest, type Instant, type SnapshotId, type TenantId } from '@countersign/contracts';
import type { CheckReason } from '@countersign/contracts/governance-kernel';
import type { RelationQuestion } from '@countersign/policy';
import type { z } from 'zod';
import { isFresh } from './freshness.ts';
import type { Relations } from './relation-source.ts';
import type { SnapshotRow } from './snapshot-view.ts';

type Deps = {
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

/**
 * Answers one query from the current snapshot. The decision is `false` when there is none, it is stale, or the search
 * reaches its limit.
 */
export function checkOne(
  { relations, findSnapshot, clock, config }: Deps,
  tenant: TenantId,
  question: RelationQuestion,
): Promise<Checked> {
  return relations.atOneSnapshot(tenant, async (head): Promise<Checked> => {
    const nowMs = clock().getTime();
    const snapshot = head === null ? null : await findSnapshot(tenant, head.version);
    const under = {
      snapshot_id: snapshot?.id ?? null,
      snapshot_hash: head?.hash ?? null,
      checked_at: instantOf(nowMs),
    };
    if (head === null || !isFresh(head, { nowMs, ageMaxMs: config.relationsAgeMaxMs }))
      return { decision: false, path: [], reason: 'AUTHZ_SNAPSHOT_STALE', ...under };
    const { path, isCut } = (await relations.load(tenant, [question])).find(question);
    return { decision: path !== null, path: [...(path ?? [])], reason: isCut ? 'WORK_EXCEEDED' : null, ...under };
  });
}
