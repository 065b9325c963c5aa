import type { Digest, PrincipalId, SnapshotId, TenantId } from '@countersign/contracts';
import type { RelationshipChanges } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf } from '@countersign/crypto';
import { put, wanted } from '../ledger/control.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { relationHeads, type RelationHead } from './relation-heads.ts';
import type { SnapshotRow } from './snapshot-view.ts';
import { ownSession } from '../ledger/own-sessions.ts';

/** The state when the changes were computed. */
export type Standing = { readonly head: RelationHead; readonly snapshot: SnapshotRow } | null;

/** How many of each there are: what they are, the hash of the snapshot says, and the snapshot itself. */
type Counted = { readonly written: number; readonly deleted: number; readonly entities: number };

type NewSnapshot = {
  tenant: TenantId;
  by: PrincipalId;
  standing: Standing;
  changes: RelationshipChanges | { model_hash: Digest };
  counted: Counted;
  model?: { hash: Digest; text: string };
  membersVersion?: number;
};

/** Other relations stand than those under which the changes were found out. Nothing was written. */
export class RelationsMoved extends Error {
  override readonly name = 'RelationsMoved';
}

/** Writes a tenant's next snapshot with all that it changes, and seals that, in one transaction. Throws RelationsMoved. */
export async function writeSnapshot(parts: SettingParts, next: NewSnapshot): Promise<SnapshotRow> {
  const { tenant, by, standing, changes, counted, model } = next;
  const nowMs = parts.clock().getTime();
  const snapshot = nextSnapshot(parts, next, nowMs);
  const { version, hash } = snapshot;
  const membersVersion = next.membersVersion ?? standing?.head.membersVersion ?? 0;
  const made = { ...snapshot, changes, model: model?.text ?? null };
  const session = ownSession('relations');
  await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(relationHeads, tenant)],
    conclude: (batch) => {
      if ((batch.row(relationHeads, tenant)?.version ?? 0) !== version - 1) throw new RelationsMoved();
      const setting = settingOf(snapshot, counted);
      const said = { tenant, session, by, nowMs, action: 'relations.change' } as const;
      const statement = settingStatement(parts, { ...said, resource: `relations:${snapshot.id}`, setting });
      batch.seal(statement, () => ({
        changes: [put(relationHeads, { tenant, version, hash, confirmedAtMs: nowMs, membersVersion, made })],
      }));
      return () => undefined;
    },
  });
  return snapshot;
}

function nextSnapshot(
  { provider, newUlid }: SettingParts,
  { standing, changes, counted, model }: NewSnapshot,
  nowMs: number,
): SnapshotRow {
  const { version: before = 0, hash: previous = null, tupleCount = 0, modelHash = null } = standing?.snapshot ?? {};
  const version = before + 1;
  return {
    id: `snp_${newUlid(nowMs)}` as SnapshotId, // within its schema
    version,
    hash: digestOf(provider, canonicalBytes({ previous, version, changes })) as Digest, // digestOf writes exactly this form
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
