import { readPublicKeys } from '@countersign/service-kit';

/** The configured root key, or `null`. Throws an error for the operator when it is malformed. */
export function soundRoot(root: string | undefined): string | null {
  if (root === undefined) return null;
  readPublicKeys([root]);
  return root;
}
