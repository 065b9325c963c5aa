import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Digest } from '@countersign/contracts';
import type { RecordMembers } from './record-text.ts';

/** Members of a payload that are set when the receipt gets its position in a chain. */
type PlaceMember = 'type' | 'lamport_clock' | 'prev_hash' | 'record_hash';

/** A receipt without its position in a chain. */
export type ReceiptMembers = Omit<ReceiptPayload, PlaceMember>;

/** The statement to seal. */
export type Statement = {
  ulid: string;
  receipt: ReceiptMembers;
  /** A new record, or the hash of an existing record that this receipt is also about. */
  record: RecordMembers | { hash: Digest };
};
