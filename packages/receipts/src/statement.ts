import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { Digest } from '@countersign/contracts';
import type { RecordMembers } from './record-text.ts';

/** Members of a payload that are known only when the receipt gets its place in a chain. */
type PlaceMember = 'type' | 'lamport_clock' | 'prev_hash' | 'record_hash';

/** A receipt before it has its place. */
export type ReceiptMembers = Omit<ReceiptPayload, PlaceMember>;

/** The statement to seal. */
export type Statement = {
  ulid: string;
  receipt: ReceiptMembers;
  /** A new record, or the hash of the record that this receipt is about too. */
  record: RecordMembers | { hash: Digest };
};
