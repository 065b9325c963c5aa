import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { Checkpoints } from '../proof/checkpoints.ts';

/** How often the tree is grown and looked at: a proof that is asked for has little left to do. */
const lookEveryMs = 1_000;

type CheckpointerParts = { checkpoints: Checkpoints; clockGuard: ClockGuard; log: Log };

/** Makes the checkpoints that are due. */
export function startCheckpointer({ checkpoints, clockGuard, log }: CheckpointerParts): Repeated {
  return repeat({
    run: () => checkpoints.createWhenDue(),
    intervalMs: lookEveryMs,
    clockGuard,
    onFailure: (error) => log.warn('checkpoint.failed', { error }),
  });
}
