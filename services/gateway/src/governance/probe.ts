import { createRawClient, getReadiness } from '@countersign/contracts';
import { healthz } from '@countersign/contracts/governance-kernel';
import type { Reachability } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';

type Probe = { state: Reachability; latencyMs: number };

/** A health check that hangs is worse than one that says no. */
const probeTimeoutMs = 1_000;

/** Rejects when the kernel could not decide now: when it is away, has no room for a receipt, or no policy that is fresh. */
export async function assertGovernanceReady({ config, fetchNow }: Context): Promise<'none' | undefined> {
  if (config.governance === null) return 'none';
  const options = { baseUrl: config.governance.healthUrl, timeoutMs: probeTimeoutMs, fetch: fetchNow };
  const answer = await createRawClient({ getReadiness }, options).getReadiness();
  if (answer.kind !== 'replied' || answer.body.status !== 'ready') throw new Error('The kernel is not ready');
}

/** Asks the kernel whether it lives. Never rejects and never takes longer than a second. */
export async function probeGovernance({ config, fetchNow }: Context): Promise<Probe> {
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
