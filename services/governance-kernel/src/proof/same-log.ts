import type { Checkpoint } from '@countersign/contracts/governance-kernel';

/**
 * Throws where the log has another name than its last head. Under another one the heads from before count for nothing, and what they alone
 * prove, which is what revoked keys have signed, would be proven by nothing.
 */
export function assertSameLog(latest: Pick<Checkpoint, 'note'> | null, origin: string): void {
  const [named] = latest?.note.split('\n', 1) ?? [origin];
  if (named !== origin)
    throw new Error(`The log of this database is named ${named}, and its name stays: this kernel names it ${origin}`);
}
