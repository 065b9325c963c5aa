import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { put, wanted } from '../ledger/control.ts';
import { risingMove } from '../policy/rising-version.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { tenantOrgs, type TenantOrg } from './tenant-orgs.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Placing = { tenant: TenantId; org: OrgId | null; version: number; by: PrincipalId };

/** Says which organisation a tenant belongs to and seals that, or confirms it. Throws ILLEGAL_TRANSITION. */
export async function placeTenant(parts: SettingParts, { tenant, org, version, by }: Placing): Promise<TenantOrg> {
  const nowMs = parts.clock().getTime();
  const session = ownSession('fences');
  return await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(tenantOrgs, tenant)],
    conclude: (batch) => {
      const standing = batch.row(tenantOrgs, tenant);
      const isSame = () => standing?.org === org;
      if (risingMove(standing, { version }, isSame) === 'confirm' && standing !== null) return () => standing;
      const row = { tenant, org, version, updatedAtMs: nowMs };
      const setting = { version, org_id: org };
      const said = {
        tenant,
        session,
        by,
        nowMs,
        action: 'tenant.place',
        resource: `tenant:${tenant}`,
        setting,
      } as const;
      batch.seal(settingStatement(parts, said), () => ({ changes: [put(tenantOrgs, row)] }));
      return () => row;
    },
  });
}
