import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';

/** The payload of a receipt from the text that a kernel sealed. */
export function sealedPayload(text: string): ReceiptPayload {
  return JSON.parse(text) as ReceiptPayload; // the signature covers this text
}

/** The boundary record from the text that a kernel sealed. */
export function sealedRecord(text: string): BoundaryRecord {
  return JSON.parse(text) as BoundaryRecord; // the receipt contains the hash of this text
}
