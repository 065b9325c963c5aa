import { WorkspaceId, type TenantId } from '@countersign/contracts';
import type { Facts } from '@countersign/policy';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { toolBlocks } from './tool-blocks.ts';

/** The set that shows whether the settings of a tenant have arrived. A tenant that is no workspace has none. */
export function wantedSettings(tenant: TenantId): Wanted[] {
  return isWorkspace(tenant) ? [wanted(toolBlocks, tenant)] : [];
}

/** The gateway delivers the ceiling of the month before the first list of blocked tools, so the list shows that both are here. */
export function settingsFact(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId): Facts['settings'] {
  if (!isWorkspace(tenant)) return { state: 'not_applicable' };
  return { state: 'known', value: { received: batch.row(toolBlocks, tenant) !== null } };
}

function isWorkspace(tenant: TenantId): boolean {
  return tenant.startsWith('wsp_') && WorkspaceId.safeParse(tenant).success;
}
