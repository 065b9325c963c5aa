import { readFile } from 'node:fs/promises';
import type { Digest, PrincipalId } from '@countersign/contracts';
import type { Signature } from '@countersign/contracts/governance-kernel';
import { parsePolicyBundle } from '@countersign/policy';
import type { Log } from '@countersign/service-kit';
import { activationBytes } from '../policy/activation.ts';
import type { Policies } from '../policy/policies.ts';

type PolicyFileParts = {
  path: string;
  policies: Policies;
  sign(bytes: Uint8Array): Signature;
  log: Log;
  intervalMs: number;
};

export type PolicyFile = { refresh(): Promise<void>; close(): void };

/**
 * Keeps `*` at what a file says: a new content becomes the next epoch, the same content confirms it. A file that cannot be read or
 * compiled changes nothing and is reported; the active bundle then ages until it is stale.
 */
export function watchPolicyFile({ path, policies, sign, log, intervalMs }: PolicyFileParts): PolicyFile {
  const by = 'policy-file' as PrincipalId; // within its schema
  const refresh = async () => {
    const { bundle, policyHash } = await readBundle(path, policies);
    await policies.reload('*');
    const active = policies.current('*');
    const epoch = active === null ? 1 : active.epoch + (active.hash === policyHash ? 0 : 1);
    const signature = sign(activationBytes({ tenant: '*', epoch, policyHash }));
    const { move } = await policies.activate({ tenant: '*', bundle, epoch, signature, by });
    if (move === 'activate') log.info('policy.activated', { policy_hash: policyHash, epoch });
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
