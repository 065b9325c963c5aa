import type { Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { Meter } from '@countersign/service-kit';
import { controls } from './controls.ts';
import { createCommit, type Commit, type LedgerStore } from './ledger/commit.ts';
import { GroupCommit } from './ledger/group-commit.ts';
import { measuredCommit } from './ledger/measured-commit.ts';
import type { LogWatch } from './tail/log-watch.ts';

type Parts = { signer: Signer; logWatch: LogWatch; meter: Meter };

/** The kernel's one ledger, over the tables that it is handed. */
export function openLedger(store: LedgerStore, { signer, logWatch, meter }: Parts): GroupCommit {
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
