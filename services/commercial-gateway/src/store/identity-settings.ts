import { RoleMapping } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { Reader, Tx } from './database.ts';

type IdentityRow = {
  version: number;
  ssoRequired: boolean;
  oidcConnectionId: string | null;
  roleMappings: RoleMapping[];
};

/** Returns the settings. Version 0 means that the organisation has never changed them. */
export async function findIdentity(reader: Reader, orgId: OrgId): Promise<IdentityRow> {
  const row = await reader.identitySettings.findUnique({ where: { orgId } });
  if (row === null) return { version: 0, ssoRequired: false, oidcConnectionId: null, roleMappings: [] };
  return { ...row, roleMappings: RoleMapping.array().parse(JSON.parse(row.roleMappings)) };
}

/** Locks the settings of an organisation until the transaction ends. Creates them if they are missing. */
export async function lockIdentity(tx: Tx, orgId: OrgId, { actor, now }: { actor: string; now: Date }): Promise<void> {
  const empty = { version: 0, ssoRequired: false, oidcConnectionId: null, roleMappings: '[]' };
  const data = { orgId, ...empty, updatedBy: actor, updatedAt: now };
  await tx.identitySettings.createMany({ data, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM identity_settings WHERE org_id = ${orgId} FOR UPDATE`;
}

type WrittenSettings = IdentityRow & { orgId: OrgId; updatedBy: string; updatedAt: Date };

/** The caller must hold the lock of the settings. */
export async function writeIdentity(tx: Tx, { orgId, roleMappings, ...rest }: WrittenSettings): Promise<void> {
  await tx.identitySettings.update({ where: { orgId }, data: { ...rest, roleMappings: canonicalize(roleMappings) } });
}
