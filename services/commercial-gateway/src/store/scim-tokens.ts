import { ScimTokenId, UserId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { Reader, Tx } from './database.ts';

export type StoredScimToken = {
  id: ScimTokenId;
  orgId: OrgId;
  name: string;
  createdBy: UserId;
  createdAt: Date;
  expiresAt: Date;
  lastUsedAt: Date | null;
};

export async function insertScimToken(tx: Tx, token: StoredScimToken & { secretHash: string }): Promise<void> {
  await tx.scimToken.create({ data: token });
}

/** Returns the tokens that are neither revoked nor expired, oldest first. */
export async function listLiveScimTokens(reader: Reader, orgId: OrgId, now: Date): Promise<StoredScimToken[]> {
  const rows = await reader.scimToken.findMany({
    where: { orgId, revokedAt: null, expiresAt: { gt: now } },
    orderBy: { id: 'asc' },
    omit: { secretHash: true },
  });
  return rows.map((row) => ({
    ...row,
    id: ScimTokenId.parse(row.id),
    orgId: OrgId.parse(row.orgId),
    createdBy: UserId.parse(row.createdBy),
  }));
}

/** Returns the token whose secret has this hash, in any organisation. `null` when it is unknown, revoked or expired. */
export async function findLiveScimToken(
  reader: Reader,
  secretHash: string,
  now: Date,
): Promise<Pick<StoredScimToken, 'id' | 'orgId' | 'lastUsedAt'> | null> {
  const row = await reader.scimToken.findUnique({ where: { secretHash, revokedAt: null, expiresAt: { gt: now } } });
  if (row === null) return null;
  return { id: ScimTokenId.parse(row.id), orgId: OrgId.parse(row.orgId), lastUsedAt: row.lastUsedAt };
}

/** Returns whether a token of the organisation is neither revoked nor expired. */
export async function isLiveToken(
  reader: Reader,
  { orgId, id, now }: { orgId: OrgId; id: ScimTokenId; now: Date },
): Promise<boolean> {
  return (await reader.scimToken.count({ where: { orgId, id, revokedAt: null, expiresAt: { gt: now } } })) === 1;
}

/** Records the last use, at most once a minute. */
export async function recordTokenUse(
  tx: Tx,
  id: ScimTokenId,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  const where = { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: before } }] };
  await tx.scimToken.updateMany({ where, data: { lastUsedAt: now } });
}

/** Revokes a token of the organisation. */
export async function revokeToken(
  tx: Tx,
  { orgId, id, now }: { orgId: OrgId; id: ScimTokenId; now: Date },
): Promise<'revoked' | 'revoked_before' | 'unknown'> {
  const { count } = await tx.scimToken.updateMany({ where: { orgId, id, revokedAt: null }, data: { revokedAt: now } });
  if (count === 1) return 'revoked';
  return (await tx.scimToken.count({ where: { orgId, id } })) === 1 ? 'revoked_before' : 'unknown';
}
