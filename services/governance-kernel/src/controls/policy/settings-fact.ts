import { WorkspaceId, type TenantId } from '@countersign/contracts';
import type { Facts } from '@countersign/policy';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { toolBlocks } from './tool-blocks.ts';

/** The row that shows whether the settings of a workspace have arrived. Other tenants have no such settings. */
export function wantedSettings(tenant: TenantId): Wanted[] {
  return isWorkspace(tenant) ? [wanted(toolBlocks, tenant)] : [];
}

/**
 * The gateway delivers the monthly ceiling before the first list of blocked tools, so the list shows that both have
 * arrived.
 */
export function settingsFact(batch: Pick<LedgerBatch, 'row'>, tenant: TenantId): Facts['settings'] {
  if (!isWorkspace(tenant)) return { state: 'not_applicable' };
  return { state: 'known', value: { received: batch.row(toolBlocks, tenant) !== null } };
}

function isWorkspace(tenant: TenantId): boolean {
  return tenant.startsWith('wsp_') && WorkspaceId.safeParse(tenant).success;
}
