import { Instant } from '@countersign/contracts';
import { getGovernanceStatus } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { probeGovernance } from '../governance/probe.ts';
import { handleWorkspace } from '../handle.ts';

export const getGovernanceStatusRoute = (context: Context) =>
  handleWorkspace(getGovernanceStatus)(async () => {
    const { config, kernel } = context;
    const probe = await probeGovernance(context);
    return {
      configured: config.governance !== null,
      required: config.failClosed,
      live:
        probe.state === 'not_configured'
          ? null
          : {
              ok: probe.state === 'ok',
              latencyMs: probe.latencyMs,
              error: probe.state === 'ok' ? null : 'unreachable',
            },
      trustedKeyIds: kernel?.keyRing.pinned().map((key) => key.key_id) ?? [],
      checkedAt: Instant.parse(context.now().toISOString()),
    };
  });
