import type { Checkpoint } from '@countersign/contracts/governance-kernel';

/**
 * Throws when the configured name differs from the name in the last head. Under another name, earlier heads would be
 * invalid, and so would the proofs for receipts of revoked keys.
 */
export function assertSameLog(latest: Pick<Checkpoint, 'note'> | null, origin: string): void {
  const [named] = latest?.note.split('\n', 1) ?? [origin];
  if (named !== origin)
    throw new Error(`The log of this database is named ${named} and cannot be renamed to ${origin}`);
}
