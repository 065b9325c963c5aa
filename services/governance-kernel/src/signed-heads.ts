import type { KernelConfig } from './config.ts';
import type { ClockGuard } from './ledger/clock-guard.ts';
import { createCheckpoints, type Checkpoints, type CheckpointsParts } from './proof/checkpoints.ts';
import { countedHeads, type CountedHeads } from './proof/counted-heads.ts';
import { findCheckpoint, findLatestCheckpoint, listNewestHeads, recordCheckpoint } from './store/checkpoint-store.ts';
import type { KernelDatabase } from './store/database.ts';
import { growLogTree } from './store/log-tree-store.ts';
import { listTrustKeys, type TrustKeyRow } from './store/trust-key-store.ts';

type Signing = Pick<CheckpointsParts, 'provider' | 'signer' | 'clock' | 'newUlid'> & {
  config: KernelConfig;
  clockGuard: ClockGuard;
};

/** What signs the heads of the log, and what finds those that count by a set of keys. */
export type SignedHeads = { checkpoints: Checkpoints; headsBy(keys: readonly TrustKeyRow[]): CountedHeads };

export function signedHeads(
  { config, provider, signer, clock, clockGuard, newUlid }: Signing,
  { reader, transaction }: KernelDatabase,
): SignedHeads {
  const findLatest = () => findLatestCheckpoint(reader);
  const checkpoints = createCheckpoints({
    ...{ provider, signer, clock, newUlid, findLatest },
    assertClockNear: () => clockGuard.assertNear(),
    origin: config.logOrigin,
    growTree: () => growLogTree(transaction, provider),
    record: (checkpoint) => recordCheckpoint(transaction, checkpoint),
    isCounted: async (checkpoint) => headsBy(await listTrustKeys(reader)).isCounted(checkpoint),
    receiptsMax: config.checkpointReceiptsMax,
    intervalMs: config.checkpointIntervalMs,
  });
  const headsBy = (keys: readonly TrustKeyRow[]) =>
    countedHeads(
      {
        ...{ provider, findLatest, create: checkpoints.create },
        origin: config.logOrigin,
        find: (id) => findCheckpoint(reader, id),
        listNewest: (signers, place) => listNewestHeads(reader, signers, place),
      },
      keys,
    );
  return { checkpoints, headsBy };
}
