import { createRawClient } from '@countersign/contracts';
import { healthz } from '@countersign/contracts/governance-kernel';
import type { Reachability } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';

type Probe = { state: Reachability; latencyMs: number };

/** A health check that hangs is worse than one that says no. */
const probeTimeoutMs = 1_000;

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
