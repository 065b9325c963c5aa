import { instantOf, type Digest, type SnapshotId } from '@countersign/contracts';
import type { RelationSnapshot } from '@countersign/contracts/governance-kernel';

/** A stored snapshot. Times are milliseconds since the epoch. */
export type SnapshotRow = {
  readonly id: SnapshotId;
  readonly version: number;
  readonly hash: Digest;
  readonly previousHash: Digest | null;
  readonly tupleCount: number;
  readonly modelHash: Digest | null;
  readonly createdAtMs: number;
  readonly confirmedAtMs: number;
};

export function snapshotView(snapshot: SnapshotRow, ageMaxMs: number): RelationSnapshot {
  return {
    snapshot_id: snapshot.id,
    version: snapshot.version,
    snapshot_hash: snapshot.hash,
    previous_hash: snapshot.previousHash,
    tuple_count: snapshot.tupleCount,
    model_hash: snapshot.modelHash,
    created_at: instantOf(snapshot.createdAtMs),
    confirmed_at: instantOf(snapshot.confirmedAtMs),
    fresh_until: instantOf(snapshot.confirmedAtMs + ageMaxMs),
  };
}
