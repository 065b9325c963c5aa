import type { Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Meter } from '@countersign/service-kit';
import { controls } from './controls.ts';
import { createCommit, type Commit, type LedgerStore } from './ledger/commit.ts';
import { GroupCommit } from './ledger/group-commit.ts';
import { measuredCommit } from './ledger/measured-commit.ts';
import type { LogWatch } from './evidence/tail/log-watch.ts';

type Deps = { signer: Signer; logWatch: LogWatch; meter: Meter };

/** The ledger of the kernel, over the given tables. */
export function openLedger(store: LedgerStore, { signer, logWatch, meter }: Deps): GroupCommit {
  const commit = createCommit({ store, sealer: { provider: nodeProvider, signer }, controls });
  return new GroupCommit(measuredCommit(noticed(commit, logWatch), meter));
}

/** Notifies open streams of a local commit at once. */
function noticed(commit: Commit, watch: LogWatch): Commit {
  return async (entries) => {
    const results = await commit(entries);
    watch.noticeCommit();
    return results;
  };
}
