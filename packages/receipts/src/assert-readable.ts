import type { ReceiptMembers } from './statement.ts';

// Each pattern is that of the member's schema with its length; `$` without the m flag is the end of the whole name.
const controls = String.raw`\u0000-\u001f\u007f`;
const outsideNames = [
  ['tenant_id', /^[A-Za-z0-9._:-]{1,128}$/],
  ['principal_id', new RegExp(`^[^${controls}]{1,256}$`)],
  ['session_id', new RegExp(String.raw`^[^${controls}/\\]{1,256}$`)],
  ['action', /^(?=.{1,128}$)[a-z][a-z0-9_-]*(\.[a-z][a-z0-9_-]*)+$/],
  ['tool', new RegExp(`^[^${controls}]{1,256}$`)],
  ['resource', new RegExp(`^[^${controls}]{1,2048}$`)],
] as const;

/**
 * Throws for a receipt that its own schema would refuse because of a name that people or models outside choose: sealed, it would
 * make its chain unreadable for good. The doors parse names; this is for the one that forgets. By hand, because it runs for each
 * receipt and schemas take 50 times as long.
 */
export function assertReadable(receipt: ReceiptMembers): void {
  for (const [member, pattern] of outsideNames) {
    const name = receipt[member];
    if (name !== null && !(pattern.test(name) && name.trim() === name))
      throw new Error(`A receipt cannot hold this ${member}`);
  }
}
