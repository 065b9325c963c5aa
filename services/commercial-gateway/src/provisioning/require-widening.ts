import { AppError } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { entitlementsOf } from '../entitlements/entitlements-of.ts';
import type { Reader } from '../store/database.ts';
import { findOrgSettings } from '../store/org-settings.ts';

/**
 * Throws PERMISSION_DENIED when the organisation is suspended or its plan has no SCIM. Call it only for changes that
 * grant access. Changes that end access are always permitted.
 */
export async function requireWidening(
  reader: Reader,
  { entitlementTerms }: Pick<Context, 'entitlementTerms'>,
  { orgId, now }: { orgId: OrgId; now: Date },
): Promise<void> {
  const { suspension } = await findOrgSettings(reader, orgId);
  if (suspension !== null)
    throw new AppError(
      'PERMISSION_DENIED',
      'The organisation is suspended, so access cannot be granted. Requests that end access are accepted.',
    );
  const { capabilities } = await entitlementsOf(reader, entitlementTerms, { orgId, now });
  if (capabilities.includes('scim')) return;
  throw new AppError(
    'PERMISSION_DENIED',
    'The plan in force does not include SCIM. Change the plan. Requests that end access are accepted.',
  );
}
