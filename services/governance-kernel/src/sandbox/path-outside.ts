import { isAbsolute } from 'node:path';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import { covers } from './overgrants.ts';

/** A path of the command line that the sandbox does not have. The host is not asked: a tenant must not learn which files exist there. */
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
