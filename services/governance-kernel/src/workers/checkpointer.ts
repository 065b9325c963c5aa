import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { Checkpoints } from '../evidence/proof/checkpoints.ts';

/** How often the tree grows and is checked, so that a requested proof has little left to do. */
const lookEveryMs = 1_000;

type CheckpointerDeps = { checkpoints: Checkpoints; clockGuard: ClockGuard; log: Log };

/** Creates due checkpoints. */
export function startCheckpointer({ checkpoints, clockGuard, log }: CheckpointerDeps): Repeated {
  return repeat({
    run: () => checkpoints.createWhenDue(),
    intervalMs: lookEveryMs,
    clockGuard,
    onFailure: (error) => log.warn('checkpoint.failed', { error }),
  });
}
