import { sha256Of, type Digest, type PrincipalId, SnapshotId, type TenantId } from '@countersign/contracts';
import type { RelationshipChanges } from '@countersign/contracts/governance-kernel';
import { canonicalBytes } from '@countersign/crypto';
import { put, wanted } from '../../ledger/control.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { relationHeads, type RelationHead } from './relation-heads.ts';
import type { SnapshotRow } from './snapshot-view.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

/** The state from which the changes were computed. */
export type CurrentState = { readonly head: RelationHead; readonly snapshot: SnapshotRow } | null;

/** The number of changes. Their content is covered by the hash of the snapshot. */
type Counted = { readonly written: number; readonly deleted: number; readonly entities: number };

type NewSnapshot = {
  tenant: TenantId;
  by: PrincipalId;
  current: CurrentState;
  changes: RelationshipChanges | { model_hash: Digest };
  counted: Counted;
  model?: { hash: Digest; text: string };
  membersVersion?: number;
};

/** The relations have changed since the changes were computed. Nothing was written. */
export class RelationsMoved extends Error {
  override readonly name = 'RelationsMoved';
}

/**
 * Writes and seals a tenant's next snapshot with all of its changes, in one transaction. Throws RelationsMoved.
 */
export async function writeSnapshot(deps: SettingDeps, next: NewSnapshot): Promise<SnapshotRow> {
  const { tenant, by, current, changes, counted, model } = next;
  const nowMs = deps.clock().getTime();
  const snapshot = nextSnapshot(deps, next, nowMs);
  const { version, hash } = snapshot;
  const membersVersion = next.membersVersion ?? current?.head.membersVersion ?? 0;
  const made = { ...snapshot, changes, model: model?.text ?? null };
  const session = ownSession('relations');
  await deps.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(relationHeads, tenant)],
    conclude: (batch) => {
      if ((batch.row(relationHeads, tenant)?.version ?? 0) !== version - 1) throw new RelationsMoved();
      const setting = settingOf(snapshot, counted);
      const stated = { tenant, session, by, nowMs, action: 'relations.change' } as const;
      const statement = settingStatement(deps, { ...stated, resource: `relations:${snapshot.id}`, setting });
      batch.seal(statement, () => ({
        changes: [put(relationHeads, { tenant, version, hash, confirmedAtMs: nowMs, membersVersion, made })],
      }));
      return () => undefined;
    },
  });
  return snapshot;
}

function nextSnapshot(
  { provider, newUlid }: SettingDeps,
  { current, changes, counted, model }: NewSnapshot,
  nowMs: number,
): SnapshotRow {
  const { version: before = 0, hash: previous = null, tupleCount = 0, modelHash = null } = current?.snapshot ?? {};
  const version = before + 1;
  return {
    id: SnapshotId.parse(`snp_${newUlid(nowMs)}`),
    version,
    hash: sha256Of(provider, canonicalBytes({ previous, version, changes })),
    previousHash: previous,
    tupleCount: tupleCount + counted.written - counted.deleted,
    modelHash: model?.hash ?? modelHash,
    createdAtMs: nowMs,
    confirmedAtMs: nowMs,
  };
}

function settingOf({ version, hash, previousHash, modelHash }: SnapshotRow, counted: Counted) {
  return { version, snapshot_hash: hash, previous_hash: previousHash, ...counted, model_hash: modelHash };
}
