import type { DecisionId, ReceiptId, RecordId } from '@countersign/contracts';

// The ids of one statement share a ULID, so each can be derived from the others. Each cast is safe, because the text
// has the format of the id's schema.
export const receiptIdOf = (ulid: string) => `rcp_${ulid}` as ReceiptId;
export const recordIdOf = (ulid: string) => `rec_${ulid}` as RecordId;
export const decisionIdOf = (ulid: string) => `dec_${ulid}` as DecisionId;

/** `rcp_<ulid>`, `rec_<ulid>`, `dec_<ulid>` → ULID. */
export function ulidOf(id: string): string {
  return id.slice(id.indexOf('_') + 1);
}
