import type { TenantId } from '@countersign/contracts';
import type { BoundaryStatus, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { boundaryStatus, type StandingDeps } from './boundary-status.ts';

export type ConsoleView = { status: BoundaryStatus; receipts: StoredReceipt[]; tools: number };

/** The data of all console parts, read concurrently. */
export async function consoleView(deps: StandingDeps, tenant: TenantId): Promise<ConsoleView> {
  const [status, receipts, tools] = await Promise.all([
    boundaryStatus(deps, tenant),
    deps.listLatestReceipts(tenant),
    deps.countTools(tenant),
  ]);
  return { status, receipts, tools };
}
