import { readFile } from 'node:fs/promises';
import type { Digest, PrincipalId } from '@countersign/contracts';
import { parsePolicyBundle } from '@countersign/policy';
import type { Log } from '@countersign/service-kit';
import { keepActive, type KeepParts } from '../policy/keep-active.ts';
import type { Policies } from '../policy/policies.ts';

type PolicyFileParts = KeepParts & { path: string; log: Log; intervalMs: number };

export type PolicyFile = { refresh(): Promise<void>; close(): void };

/**
 * Keeps `*` at what a file says: a new content becomes the next epoch, the same content confirms it. A file that cannot be read or
 * compiled changes nothing and is reported; the active bundle then ages until it is stale.
 */
export function watchPolicyFile(parts: PolicyFileParts): PolicyFile {
  const { path, policies, log, intervalMs } = parts;
  const by = 'policy-file' as PrincipalId; // within its schema
  const refresh = async () => {
    const read = await readBundle(path, policies);
    const stated = await keepActive(parts, { tenant: '*', ...read, by, replaces: true });
    if (stated?.move === 'activate') log.info('policy.activated', { policy_hash: stated.hash, epoch: stated.epoch });
  };
  const timer = setInterval(() => {
    refresh().catch((error: unknown) => log.warn('policy.file_refused', { path, error }));
  }, intervalMs);
  timer.unref();
  return { refresh, close: () => clearInterval(timer) };
}

async function readBundle(path: string, policies: Policies) {
  try {
    const bundle = parsePolicyBundle(await readFile(path, 'utf8'));
    return { bundle, policyHash: policies.compile(bundle).hash as Digest }; // compilePolicy hashes with digestOf
  } catch (cause) {
    throw new Error(`The policy file ${path} cannot be used`, { cause });
  }
}
