import type { LogPolicy } from './log-policy.ts';
import { verifyCheckpoint, type LogTrust } from './verify-log.ts';
import { WitnessedLog } from './witnessed-log.ts';

/**
 * The time by which a quorum of the policy had cosigned this checkpoint. `null` without the quorum. Throws
 * {@link VerificationError} like `verifyCheckpoint`, and for a false cosignature or contradicting times.
 */
export function verifyWitnessed(note: string, { policy, ...trust }: LogTrust & { policy: LogPolicy }): string | null {
  const checkpoint = verifyCheckpoint(note, trust);
  const log = new WitnessedLog(policy, trust.provider);
  log.take(note, checkpoint);
  return log.spanOf({ first: 0, last: checkpoint.size - 1 })?.by ?? null;
}
