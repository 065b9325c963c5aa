import { createRawClient, getReadiness } from '@countersign/contracts';
import { healthz } from '@countersign/contracts/governance-kernel';
import type { Reachability } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';

type Deps = Pick<Context, 'config' | 'fetchNow'>;

type Probe = { state: Reachability; latencyMs: number };

/** A health check that hangs is worse than one that fails. */
const probeTimeoutMs = 1_000;

/** Rejects when the kernel cannot decide now: it is unavailable, cannot store a receipt, or has no fresh policy. */
export async function assertGovernanceReady({ config, fetchNow }: Deps): Promise<'none' | undefined> {
  if (config.governance === null) return 'none';
  const options = { baseUrl: config.governance.healthUrl, timeoutMs: probeTimeoutMs, fetch: fetchNow };
  const answer = await createRawClient({ getReadiness }, options).getReadiness();
  if (answer.kind !== 'replied' || answer.body.status !== 'ready') throw new Error('The kernel is not ready');
}

/** Checks whether the kernel is alive. Never rejects and never takes longer than a second. */
export async function probeGovernance({ config, fetchNow }: Deps): Promise<Probe> {
  if (config.governance === null) return { state: 'not_configured', latencyMs: 0 };
  const startedAtMs = performance.now();
  const options = { baseUrl: config.governance.healthUrl, timeoutMs: probeTimeoutMs, fetch: fetchNow };
  const isAlive = await createRawClient({ healthz }, options)
    .healthz()
    .then(
      ({ kind }) => kind === 'replied',
      () => false,
    );
  return { state: isAlive ? 'ok' : 'unreachable', latencyMs: Math.round(performance.now() - startedAtMs) };
}
