import type { Statement } from './statement.ts';

/** Members of a receipt that people and models outside choose, with the lengths of their schemas. */
const outsideNames = [
  ['tenant_id', 128],
  ['principal_id', 256],
  ['session_id', 256],
  ['action', 128],
  ['tool', 256],
  ['resource', 2_048],
] as const;

// eslint-disable-next-line no-control-regex -- the control characters are what the pattern refuses
const printable = /^[^\u0000-\u001f\u007f]+$/;

/**
 * Throws for a receipt that its own schema would refuse because of a name: sealed, it would make its chain unreadable for good.
 * The doors parse names; this is for the one that forgets. By hand, because it runs for each receipt and schemas take 50 times as long.
 */
export function assertReadable(receipt: Statement['receipt']): void {
  for (const [member, lengthMax] of outsideNames) {
    const name = receipt[member];
    if (name !== null && !isName(name, lengthMax)) throw new Error(`A receipt cannot hold this ${member}`);
  }
}

function isName(name: string, lengthMax: number): boolean {
  return name.length <= lengthMax && printable.test(name) && name.trim() === name;
}
