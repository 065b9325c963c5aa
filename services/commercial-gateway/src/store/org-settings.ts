import { Instant, UserId } from '@countersign/contracts';
import { EntitlementOverride, type OrgSettings } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { EntitlementOverrideModel, OrgSuspensionModel } from '../generated/prisma/models.ts';
import type { Reader, Tx } from './database.ts';

type Suspension = NonNullable<OrgSettings['suspension']>;

/** Returns the suspension and the override of these organisations, including expired overrides. */
export async function listOrgSettings(
  reader: Reader,
  orgIds: readonly OrgId[],
): Promise<{ suspensions: ReadonlyMap<string, Suspension>; overrides: ReadonlyMap<string, EntitlementOverride> }> {
  const where = { orgId: { in: [...orgIds] } };
  const suspensions = await reader.orgSuspension.findMany({ where });
  const overrides = await reader.entitlementOverride.findMany({ where });
  return {
    suspensions: new Map(suspensions.map((row) => [row.orgId, suspensionOf(row)])),
    overrides: new Map(overrides.map((row) => [row.orgId, overrideOf(row)])),
  };
}

export async function findOrgSettings(reader: Reader, orgId: OrgId): Promise<OrgSettings> {
  const { suspensions, overrides } = await listOrgSettings(reader, [orgId]);
  return { suspension: suspensions.get(orgId) ?? null, override: overrides.get(orgId) ?? null };
}

/** Stores or removes the suspension. */
export async function writeSuspension(tx: Tx, orgId: OrgId, suspension: Suspension | null): Promise<void> {
  await tx.orgSuspension.deleteMany({ where: { orgId } });
  if (suspension === null) return;
  const { reason, suspended_by: suspendedBy, suspended_at } = suspension;
  await tx.orgSuspension.create({ data: { orgId, reason, suspendedBy, suspendedAt: new Date(suspended_at) } });
}

/** Stores or removes the override. */
export async function writeOverride(
  tx: Tx,
  orgId: OrgId,
  { override, by: createdBy }: { override: EntitlementOverride | null; by: string },
): Promise<void> {
  await tx.entitlementOverride.deleteMany({ where: { orgId } });
  if (override === null) return;
  const { limits, capabilities, created_at, expires_at } = override;
  const terms = canonicalize({ limits, capabilities });
  const times = { createdAt: new Date(created_at), expiresAt: new Date(expires_at) };
  await tx.entitlementOverride.create({ data: { orgId, terms, createdBy, ...times } });
}

function suspensionOf({ reason, suspendedBy, suspendedAt }: OrgSuspensionModel): Suspension {
  return {
    ...{ reason, suspended_by: UserId.parse(suspendedBy) },
    suspended_at: Instant.parse(suspendedAt.toISOString()),
  };
}

function overrideOf({ terms, createdAt, expiresAt }: EntitlementOverrideModel): EntitlementOverride {
  const stored: unknown = JSON.parse(terms);
  const times = { created_at: createdAt.toISOString(), expires_at: expiresAt.toISOString() };
  return EntitlementOverride.parse({ ...(typeof stored === 'object' ? stored : {}), ...times });
}
