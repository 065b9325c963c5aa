import { outsideNames } from '@countersign/contracts';
import type { ReceiptMembers } from './statement.ts';

// Each pattern is that of the member's schema, and beside it its length; `$` without the m flag is the end of the whole name.
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
 * Throws for a receipt that its own schema would refuse because of a name that people or models outside choose: sealed,
 * it would make its chain unreadable for good. The doors parse names; this is for the one that forgets. Handwritten,
 * because it runs for each receipt and schemas take 50 times as long.
 */
export function assertReadable(receipt: ReceiptMembers): void {
  for (const [member, pattern, lengthMax] of chosenOutside) {
    const name = receipt[member];
    if (name !== null && !(name.length <= lengthMax && pattern.test(name) && name.trim() === name))
      throw new Error(`A receipt cannot hold this ${member}`);
  }
}
