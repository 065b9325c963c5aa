import { secondsBounds, type Meter } from '@countersign/service-kit';
import type { Commit } from './commit.ts';

const entriesBounds = [1, 2, 4, 8, 16, 32, 64, 128];
const noLabels = {};

/** The commit with measurements of its time and batch sizes. */
export function measuredCommit(commit: Commit, meter: Meter): Commit {
  const time = meter.histogram({
    name: 'countersign_commit_duration_seconds',
    help: 'Time of one ledger commit.',
    bounds: secondsBounds,
  });
  const size = meter.histogram({
    name: 'countersign_commit_entries',
    help: 'Entries that were committed together.',
    bounds: entriesBounds,
  });
  return async (entries) => {
    const startedAtMs = performance.now();
    try {
      return await commit(entries);
    } finally {
      time((performance.now() - startedAtMs) / 1_000, noLabels);
      size(entries.length, noLabels);
    }
  };
}
