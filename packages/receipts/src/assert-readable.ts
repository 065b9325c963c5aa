import { outsideNames } from '@countersign/contracts';
import type { ReceiptMembers } from './statement.ts';

// Each entry has the pattern and the length limit of the member's schema. Without the m flag, `$` matches only the end
// of the name.
const named = new RegExp(`^[^${outsideNames}]+$`, 'u');
const chosenOutside = [
  ['tenant_id', /^[A-Za-z0-9._:-]+$/, 128],
  ['principal_id', named, 256],
  ['session_id', new RegExp(String.raw`^[^${outsideNames}/\\]+$`, 'u'), 256],
  ['action', /^[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$/, 128],
  ['tool', named, 256],
  ['resource', new RegExp(String.raw`^[^\u0000-\u001f\u007f]+$`), 2048],
] as const;

/**
 * Throws for a receipt with a name that its own schema would refuse. Once sealed, such a receipt would make its chain
 * unreadable for ever. Callers and models choose these names. The API validates them first, and this check covers an
 * endpoint without that validation. It is handwritten because it runs for each receipt, and schemas are 50 times
 * slower.
 */
export function assertReadable(receipt: ReceiptMembers): void {
  for (const [member, pattern, lengthMax] of chosenOutside) {
    const name = receipt[member];
    if (name !== null && !(name.length <= lengthMax && pattern.test(name) && name.trim() === name))
      throw new Error(`The ${member} is too long for a receipt, or has a form that a receipt does not allow`);
  }
}
