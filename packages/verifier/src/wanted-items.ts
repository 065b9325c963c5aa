import type { OpenedReceipt } from './verify-receipt.ts';

export type WantedOptions = {
  /** Hashes of receipts that must be present. */
  contains?: readonly string[] | undefined;
  /** Sessions of which at least one receipt must be present. */
  sessions?: readonly string[] | undefined;
};

/** The items that the caller knows from elsewhere, and that complete evidence contains. */
export class WantedItems {
  readonly #hashes: Set<string>;
  readonly #sessions: Set<string>;

  constructor({ contains, sessions }: WantedOptions) {
    this.#hashes = new Set(contains);
    this.#sessions = new Set(sessions);
  }

  take({ payload, receipt_hash }: OpenedReceipt): void {
    this.#hashes.delete(receipt_hash);
    this.#sessions.delete(payload.session_id);
  }

  missing(): string[] {
    const receipts = [...this.#hashes].map((hash) => `the receipt ${hash}, which was required`);
    return [...receipts, ...[...this.#sessions].map((session) => `the session ${session}, which was required`)];
  }
}
