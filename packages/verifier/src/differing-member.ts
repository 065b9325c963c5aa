import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';

/** The name of a member that differs between the payloads. */
export function differingMember(made: ReceiptPayload, shown: ReceiptPayload): string | null {
  const names = Object.keys({ ...made, ...shown }) as (keyof ReceiptPayload)[]; // a payload has no other members
  return names.find((name) => made[name] !== shown[name]) ?? null;
}
