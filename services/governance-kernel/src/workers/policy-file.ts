import { readFile } from 'node:fs/promises';
import { type Digest, PrincipalId } from '@countersign/contracts';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { lineOfPath, parsePolicyBundle, PolicyError } from '@countersign/policy';
import { problemText, repeat, type ClockGuard, type Log } from '@countersign/service-kit';
import { keepActive, type KeepDeps } from '../controls/policy/keep-active.ts';
import type { Policies } from '../controls/policy/policies.ts';

type PolicyFileDeps = KeepDeps & { path: string; clockGuard: ClockGuard; log: Log; intervalMs: number };

/**
 * Activates the policy file for `*`: new content becomes the next epoch, and the same content confirms the active
 * bundle. A file that cannot be read or compiled changes nothing and is reported, and the active bundle ages until it
 * is stale. The result of each content is reported once. Resolves when the first content is active, and rejects when it
 * cannot become active.
 */
export async function watchPolicyFile(deps: PolicyFileDeps): Promise<{ close(): Promise<void> }> {
  const { path, policies, clockGuard, log, intervalMs } = deps;
  const by = PrincipalId.parse('policy-file');
  const news = newsOnly();
  const bundleIn = bundleReader(policies);
  const refresh = async () => {
    const { bundle, policyHash } = await bundleIn(path);
    const stated = await keepActive(deps, { tenant: '*', bundle, policyHash, by, replaces: true });
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

/** Returns a function that tells whether a text differs from the text of the previous call. */
function newsOnly(): (text: string) => boolean {
  let reported = '';
  return (text) => {
    const isNew = text !== reported;
    reported = text;
    return isNew;
  };
}

type ReadBundle = { text: string; bundle: PolicyBundle; policyHash: Digest };

/** Reads the bundle in a file. Unchanged content is not parsed and compiled again. */
function bundleReader(policies: Policies): (path: string) => Promise<ReadBundle> {
  let last: ReadBundle | null = null;
  return async (path) => {
    let text = '';
    try {
      text = await readFile(path, 'utf8');
      if (text === last?.text) return last;
      const bundle = parsePolicyBundle(text);
      const policyHash = (await policies.compile(bundle)).hash;
      return (last = { text, bundle, policyHash });
    } catch (error) {
      throw new Error(`The policy file ${path} cannot be used`, { cause: withLine(text, error) });
    }
  };
}

/** Adds the line to an error. The compiler reports a place in the bundle, but the author of the file needs its line. */
function withLine(text: string, error: unknown): unknown {
  const fault = error instanceof Error && error.cause instanceof PolicyError ? error.cause : error;
  if (!(fault instanceof PolicyError)) return fault;
  const line = lineOfPath(text, fault.path);
  return line === null ? fault : new Error(`line ${line}: ${fault.message}`);
}
