import type { TenantId } from '@countersign/contracts';
import type { BoundaryStatus, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { boundaryStatus, type StandingParts } from './boundary-status.ts';

export type ConsoleView = { status: BoundaryStatus; receipts: StoredReceipt[]; tools: number };

/** All that a console's parts are made of, read at one time. */
export async function consoleView(parts: StandingParts, tenant: TenantId): Promise<ConsoleView> {
  const [status, receipts, tools] = await Promise.all([
    boundaryStatus(parts, tenant),
    parts.listLatestReceipts(tenant),
    parts.countTools(tenant),
  ]);
  return { status, receipts, tools };
}
