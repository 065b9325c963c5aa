import { EntityName } from '@countersign/contracts/governance-kernel';

/** Whether a tuple can contain this entity. */
export function isName(text: string): boolean {
  return EntityName.safeParse(text).success;
}
