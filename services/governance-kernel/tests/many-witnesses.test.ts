import { describe, expect, it } from '@jest/globals';
import type { CheckpointId, Digest, Instant } from '@countersign/contracts';
import { ExportHeader, linkedCheckpointsMax, type Checkpoint } from '@countersign/contracts/governance-kernel';
import { findWitnesses } from '../src/evidence/proof/witnesses.ts';
import type { TrustKeyRow } from '../src/store/trust-key-store.ts';
import { refusalTo } from './_ledger.ts';

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
const headOf = (tree_size: number): Checkpoint => ({
  checkpoint_id: `chk_${tree_size}` as CheckpointId, // unused here
  root_hash: 'sha256:0' as Digest, // unused here
  created_at: at(tree_size).toISOString() as Instant, // toISOString writes this form
  ...{ tree_size, receipt_count: tree_size, record_count: tree_size, previous_checkpoint_id: null },
  note: `note of ${tree_size}`,
});

/**
 * Keys that have signed receipts and were then revoked, each at another time. A different checkpoint is the last one
 * before each revocation.
 */
const revoked = (count: number) =>
  Array.from({ length: count }, (_, nth): TrustKeyRow => ({
    key_id: `key-${nth}`,
    public_key: Uint8Array.of(),
    purpose: 'receipts',
    log_origin: null,
    valid_from: at(0),
    valid_until: null,
    revoked_at: at(nth + 1),
  }));

const witnessesOf = (keys: TrustKeyRow[], hasSigned = () => Promise.resolve(true)) =>
  findWitnesses(keys, {
    ...{ newest: headOf(1_000_000), before: null, cosigned: null },
    findBefore: (before) => Promise.resolve(headOf(before.getTime() - at(0).getTime())),
    hasSigned,
  });

const headerOf = ({ length }: { length: number }) => ({
  format: 'countersign/chain-export.v2',
  checkpoints: Array.from({ length }, () => 'note'),
  consistency: Array.from({ length: length - 1 }, () => []),
});

describe('the checkpoints of an export whose receipts many revoked keys signed', () => {
  it('can be as many as the export header allows', async () => {
    const { checkpoints, sizeFor } = await witnessesOf(revoked(linkedCheckpointsMax - 1));
    expect(checkpoints).toHaveLength(linkedCheckpointsMax);
    expect(checkpoints.length).toBeGreaterThan(1_000);
    expect(ExportHeader.safeParse(headerOf(checkpoints)).success).toBe(true);
    expect(sizeFor(['key-70'], 3)).toBe(71);
  });

  it('are rejected as INVALID_REQUEST when they exceed the limit of the header', async () => {
    const refused = await refusalTo(witnessesOf(revoked(linkedCheckpointsMax)));
    expect(refused).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(ExportHeader.safeParse(headerOf({ length: linkedCheckpointsMax + 1 })).success).toBe(false);
  });

  it('are not added for keys that signed nothing, and keys revoked at the same time share a checkpoint', async () => {
    const keys = revoked(2 * linkedCheckpointsMax);
    expect((await witnessesOf(keys, () => Promise.resolve(false))).checkpoints).toHaveLength(1);
    const together = keys.map((key) => ({ ...key, revoked_at: at(7) }));
    expect((await witnessesOf(together)).checkpoints.map(({ tree_size }) => tree_size)).toEqual([7, 1_000_000]);
  });
});
