import { isAbsolute } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { covers } from './overgrants.ts';

/**
 * A path in the command line that does not exist in the sandbox. The files of the host are not checked, since a tenant
 * must not learn which files exist.
 */
export function pathOutside(
  terms: SandboxTerms,
  { command, args }: { command: string; args: readonly string[] },
): string | null {
  if (terms.profile !== 'bubblewrap') return null;
  const paths = [command, ...args].filter(
    (text) => isAbsolute(text) && !/^\/(?:usr|bin|sbin|lib|lib64|data)\//.test(text),
  );
  return paths.find((path) => !terms.preopens.some((granted) => covers(granted, { path, mode: 'ro' }))) ?? null;
}
