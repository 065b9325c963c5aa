import { readFile } from 'node:fs/promises';
import type { Digest, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { lineOfPath, parsePolicyBundle, PolicyError } from '@countersign/policy';
import { problemText, repeat, type ClockGuard, type Log } from '@countersign/service-kit';
import { keepActive, type KeepParts } from '../policy/keep-active.ts';
import type { Policies } from '../policy/policies.ts';

type PolicyFileParts = KeepParts & { path: string; clockGuard: ClockGuard; log: Log; intervalMs: number };

/**
 * Keeps `*` at what a file says: a new content becomes the next epoch, the same content confirms it. A file that cannot
 * be read or compiled changes nothing and is reported; the active bundle then ages until it is stale. The result of a
 * content is reported once. Resolves when the first content is active, and rejects when it cannot be.
 */
export async function watchPolicyFile(parts: PolicyFileParts): Promise<{ close(): Promise<void> }> {
  const { path, policies, clockGuard, log, intervalMs } = parts;
  const by = 'policy-file' as PrincipalId; // within its schema
  const news = newsOnly();
  const bundleIn = bundleReader(policies);
  const refresh = async () => {
    const { bundle, policyHash } = await bundleIn(path);
    const stated = await keepActive(parts, { tenant: '*', bundle, policyHash, by, replaces: true });
    const epoch = (stated ?? policies.current('*'))?.epoch;
    if (!news(`${epoch} ${policyHash}`)) return;
    const { name, version } = bundle;
    const event = stated?.move === 'activate' ? 'policy.activated' : 'policy.confirmed';
    log.info(event, { path, name, version, policy_hash: policyHash, epoch });
  };
  const report = (error: unknown) => {
    const problem = problemText(error);
    if (news(problem)) log.warn('policy.file_refused', { path, problem });
  };
  await refresh();
  const { close } = repeat({ run: refresh, intervalMs, clockGuard, onFailure: report });
  return { close };
}

/** Whether something else was told last. */
function newsOnly(): (text: string) => boolean {
  let told = '';
  return (text) => {
    const isNew = text !== told;
    told = text;
    return isNew;
  };
}

type ReadBundle = { text: string; bundle: PolicyBundle; policyHash: Digest };

/** Reads what a file says. An unchanged content is not parsed and compiled again. */
function bundleReader(policies: Policies): (path: string) => Promise<ReadBundle> {
  let last: ReadBundle | null = null;
  return async (path) => {
    let text = '';
    try {
      text = await readFile(path, 'utf8');
      if (text === last?.text) return last;
      const bundle = parsePolicyBundle(text);
      const policyHash = (await policies.compile(bundle)).hash as Digest; // the compiler hashes with digestOf
      return (last = { text, bundle, policyHash });
    } catch (error) {
      throw new Error(`The policy file ${path} cannot be used`, { cause: withLine(text, error) });
    }
  };
}

/** The compiler reports a place in the bundle; the editor of the file needs a line. */
function withLine(text: string, error: unknown): unknown {
  const fault = error instanceof Error && error.cause instanceof PolicyError ? error.cause : error;
  if (!(fault instanceof PolicyError)) return fault;
  const line = lineOfPath(text, fault.path);
  return line === null ? fault : new Error(`line ${line}: ${fault.message}`);
}
