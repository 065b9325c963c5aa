import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { NewEvent } from '@countersign/messaging';
import { publishIdentityUpdated } from '../events.ts';
import type { Tx } from '../store/database.ts';
import { findOrg } from '../store/orgs.ts';
import { settingsView } from './settings-view.ts';

/**
 * Publishes the current settings again, under their version, for services that missed an event or started later.
 * Settings that were never changed are not published.
 */
export async function republishIdentity(
  tx: Tx,
  deps: { newEvent: NewEvent },
  { orgId, now }: { orgId: OrgId; now: Date },
): Promise<void> {
  const org = await findOrg(tx, orgId);
  const settings = org === null ? null : await settingsView(tx, { org, now });
  if (settings !== null && settings.version > 0) await publishIdentityUpdated(tx, deps, settings);
}
