import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingDeps } from '../policy/setting-statement.ts';
import { tenantOrgs, type TenantOrg } from './tenant-orgs.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Placing = { tenant: TenantId; org: OrgId | null; version: number; by: PrincipalId };

/**
 * Sets the organisation of a tenant and seals the change, or confirms the current organisation. Throws
 * ILLEGAL_TRANSITION.
 */
export async function placeTenant(deps: SettingDeps, { tenant, org, version, by }: Placing): Promise<TenantOrg> {
  const nowMs = deps.clock().getTime();
  const session = ownSession('fences');
  return await deps.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(tenantOrgs, tenant)],
    conclude: (batch) => {
      const current = batch.row(tenantOrgs, tenant);
      const isSame = () => current?.org === org;
      if (risingMove(current, { version }, isSame) === 'confirm' && current !== null) return () => current;
      const row = { tenant, org, version, updatedAtMs: nowMs };
      const setting = { version, org_id: org };
      const statement = {
        tenant,
        session,
        by,
        nowMs,
        action: 'tenant.place',
        resource: `tenant:${tenant}`,
        setting,
      } as const;
      batch.seal(settingStatement(deps, statement), () => ({ changes: [put(tenantOrgs, row)] }));
      return () => row;
    },
  });
}
