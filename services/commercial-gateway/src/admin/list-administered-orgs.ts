import type { AdministeredOrg } from '@countersign/contracts/commercial-gateway';
import { decimalOfMicros } from '../metering/micros.ts';
import type { Reader } from '../store/database.ts';
import { listOrgSettings } from '../store/org-settings.ts';
import { listOrgs } from '../store/orgs.ts';
import type { PageOf } from '../store/page-cursor.ts';
import { listCurrentSubscriptions } from '../store/subscriptions.ts';
import { listUsageSince } from '../store/usage-of-orgs.ts';

/**
 * Returns a page of the organisations of the installation. The number of queries does not depend on the size of the
 * page.
 */
export async function listAdministeredOrgs(
  reader: Reader,
  page: PageOf,
  now: Date,
): Promise<{ data: AdministeredOrg[]; next_cursor: string | null }> {
  const { rows, nextCursor } = await listOrgs(reader, page);
  const orgIds = rows.map(({ id }) => id);
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const [subscriptions, { quantities, lagsMs }, { suspensions, overrides }] = await Promise.all([
    listCurrentSubscriptions(reader, orgIds),
    listUsageSince(reader, orgIds, month),
    listOrgSettings(reader, orgIds),
  ]);
  const data = rows.map(({ id, name, adminId }): AdministeredOrg => {
    const current = subscriptions.get(id);
    const lagMs = lagsMs.get(id);
    return {
      ...{ org_id: id, name, admin_id: adminId },
      subscription:
        current === undefined
          ? null
          : { plan_id: current.planId, plan_version: current.planVersion, status: current.status },
      usage: quantities
        .filter(({ orgId }) => orgId === id)
        .map(({ meter, quantityMicros }) => ({ meter, quantity: decimalOfMicros(quantityMicros) })),
      metering_lag_seconds: lagMs === undefined ? null : Math.max(0, Math.floor(lagMs / 1_000)),
      suspension: suspensions.get(id) ?? null,
      override: overrides.get(id) ?? null,
    };
  });
  return { data, next_cursor: nextCursor };
}
