import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfPresent, writePrivate } from './data-dir.ts';

const starter = new URL('../policy/starter.yaml', import.meta.url);

/** The policy file of an installation. It begins as a copy of the starter policy, and its owner changes it. */
export function ownPolicyFile(dataDir: string): string {
  const file = join(dataDir, 'policy.yaml');
  if (readIfPresent(file) === null) writePrivate(file, readFileSync(starter, 'utf8'));
  return file;
}
