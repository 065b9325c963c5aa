import type { ClockGuard } from '@countersign/service-kit';
import type { KernelConfig } from '../../kernel-config.ts';
import type { KeyGuard } from '../../ledger/key-guard.ts';
import type { HeadStore } from '../../store/heads-in.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { createCheckpoints, type Checkpoints, type CheckpointsDeps } from './checkpoints.ts';
import { countedHeads, type CountedHeads } from './counted-heads.ts';

type Signing = Pick<CheckpointsDeps, 'provider' | 'signer' | 'clock' | 'newUlid'> & {
  config: KernelConfig;
  clockGuard: ClockGuard;
  keyGuard: KeyGuard;
};

/** The signer of the log's heads, and the search for valid heads by a set of keys. */
export function signedHeads(
  { config, provider, signer, clock, clockGuard, keyGuard, newUlid }: Signing,
  store: HeadStore,
): { checkpoints: Checkpoints; headsBy(keys: readonly TrustKeyRow[]): CountedHeads } {
  const { logOrigin: origin, checkpointReceiptsMax: receiptsMax, checkpointIntervalMs: intervalMs } = config;
  const checkpoints = createCheckpoints({
    ...{ provider, signer, clock, newUlid, origin, receiptsMax, intervalMs },
    ...store,
    assertClockNear: () => clockGuard.assertNear(),
    assertKeyCounting: (at) => keyGuard.assertCounting(['log'], at),
    isCounted: async (checkpoint) => headsBy(await store.listKeys()).isCounted(checkpoint),
  });
  const { create } = checkpoints;
  const headsBy = (keys: readonly TrustKeyRow[]) => countedHeads({ provider, origin, create, ...store }, keys);
  return { checkpoints, headsBy };
}
