import { EntityName } from '@countersign/contracts/governance-kernel';

/** Could a tuple hold this entity? */
export function isName(text: string): boolean {
  return EntityName.safeParse(text).success;
}
