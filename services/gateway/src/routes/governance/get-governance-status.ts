import { Instant } from '@countersign/contracts';
import { getGovernanceStatus } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import type { Kernel } from '../../governance/kernel.ts';
import { probeGovernance } from '../../governance/probe.ts';
import { handleWorkspace } from '../../handle.ts';

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
      trustedKeyIds: receiptKeyIdsOf(kernel),
      checkedAt: Instant.parse(context.now().toISOString()),
    };
  });

/** Other keys of a trust list sign no receipts. */
function receiptKeyIdsOf(kernel: Kernel | null): string[] {
  const keys = kernel?.keyRing.pinned() ?? [];
  return keys.filter(({ purpose }) => purpose === 'receipts').map(({ key_id: id }) => id);
}
