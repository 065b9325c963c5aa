import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';

/** The name of a member that one of the payloads has and the other has not, or has with another value. */
export function differingMember(made: ReceiptPayload, shown: ReceiptPayload): string | null {
  const names = Object.keys({ ...made, ...shown }) as (keyof ReceiptPayload)[]; // of payloads, so nothing else
  return names.find((name) => made[name] !== shown[name]) ?? null;
}
