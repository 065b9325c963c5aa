import type { Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Meter } from '@countersign/service-kit';
import { controls } from './controls.ts';
import type { ClockGuard } from './ledger/clock-guard.ts';
import { createCommit, type Commit } from './ledger/commit.ts';
import { GroupCommit } from './ledger/group-commit.ts';
import { measuredCommit } from './ledger/measured-commit.ts';
import type { KernelDatabase } from './store/database.ts';
import { ledgerStore } from './store/ledger-store.ts';
import type { LogWatch } from './tail/log-watch.ts';

type Parts = { signer: Signer; clockGuard: ClockGuard; logWatch: LogWatch; meter: Meter };

/** The kernel's one ledger, over its tables. */
export function openLedger(pool: KernelDatabase['pool'], { signer, clockGuard, logWatch, meter }: Parts): GroupCommit {
  const store = ledgerStore({ pool, controls, clockGuard });
  const commit = createCommit({ store, sealer: { provider: nodeProvider, signer }, controls });
  return new GroupCommit(measuredCommit(noticed(commit, logWatch), meter));
}

/** Open tails hear of a local commit at once. */
function noticed(commit: Commit, watch: LogWatch): Commit {
  return async (entries) => {
    const results = await commit(entries);
    watch.noticeCommit();
    return results;
  };
}
