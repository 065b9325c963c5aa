import { getConsoleBootstrap } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { consoleView } from '../../doors/status/console-view.ts';

export const getConsoleBootstrapRoute = ({ standing }: Pick<Context, 'standing'>) =>
  handleTenant(getConsoleBootstrap)(async ({ caller: { tenant } }) => {
    const { status, receipts, tools } = await consoleView(standing, tenant);
    const { counts, policy, log, fences, mode, version } = status;
    const { quarantined_mcp_servers: quarantined, pending_approvals, open_dispatches, budgets } = counts;
    return {
      version,
      workspace: { tenant_id: tenant, mode },
      health: {
        kernel: status.status,
        policy: policy.state,
        store: 'up',
        conformance: status.last_proven_fail_closed === null ? 'not_run' : 'proven',
      },
      counts: {
        ...{ pending_approvals, open_dispatches, budgets },
        ...{ log_receipts: log.size, fences: fences.length, mcp_tools: tools },
      },
      receipts,
      mcp: { authorization: 'bearer', quarantined_servers: quarantined },
    };
  });
