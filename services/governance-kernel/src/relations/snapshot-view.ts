import type { Digest, Instant, SnapshotId } from '@countersign/contracts';
import type { RelationSnapshot } from '@countersign/contracts/governance-kernel';

/** A snapshot as it is kept. Times are milliseconds since the epoch. */
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
    created_at: instant(snapshot.createdAtMs),
    confirmed_at: instant(snapshot.confirmedAtMs),
    fresh_until: instant(snapshot.confirmedAtMs + ageMaxMs),
  };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
