import {
  instantOrNull,
  instantOf,
  ApiKeyEnvironment,
  ApiKeyId,
  ApiKeyScope,
  UserId,
  WorkspaceId,
} from '@countersign/contracts';
import { ApiKeyRole, type ApiKey, type User } from '@countersign/contracts/gateway';
import type { ApiKeyModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import type { Reader, Tx } from './database.ts';
import { olderThan, pageOf, type Page, type PageRequest } from './page.ts';
import { userOf } from './users.ts';
import { membershipOf, type Membership } from './workspaces.ts';

type NewApiKey = {
  workspaceId: string;
  userId: string;
  name: string;
  prefix: string;
  keyHash: string;
  role: ApiKeyRole;
  scopes: ApiKeyScope[];
  environment: ApiKeyEnvironment | null;
  createdAt: Date;
  expiresAt: Date;
};

export async function insertApiKey(tx: Tx, key: NewApiKey): Promise<ApiKey> {
  return apiKeyOf(await tx.apiKey.create({ data: { id: newId('hpk'), ...key } }));
}

/** The keys that a person may see and end: their own, or all keys of the workspace. */
type Reach = { workspaceId: string; userId: string | null };

const within = ({ workspaceId, userId }: Reach) => ({ workspaceId, ...(userId !== null && { userId }) });
const live = (now: Date) => ({ revokedAt: null, expiresAt: { gt: now } });

export function countLiveApiKeys(tx: Tx, workspaceId: string, now: Date): Promise<number> {
  return tx.apiKey.count({ where: { workspaceId, ...live(now) } });
}

export async function listApiKeysOf(reader: Reader, reach: Reach, request: PageRequest): Promise<Page<ApiKey>> {
  const rows = await reader.apiKey.findMany({
    where: { ...within(reach), id: olderThan(request) },
    orderBy: { id: 'desc' },
    take: request.limit + 1,
  });
  return pageOf(rows, request, { item: apiKeyOf, key: (row) => row.id });
}

/** `false` when no live key within reach has this id. */
export async function endApiKey(tx: Tx, reach: Reach, keyId: string, now: Date): Promise<boolean> {
  if (!ApiKeyId.safeParse(keyId).success) return false;
  const where = { id: keyId, ...within(reach), ...live(now) };
  const { count } = await tx.apiKey.updateMany({ where, data: { revokedAt: now } });
  return count === 1;
}

/** Ends all live keys that a person made in these workspaces. */
export async function endApiKeysOf(
  tx: Tx,
  { userId, workspaceIds }: { userId: string; workspaceIds: readonly string[] },
  now: Date,
): Promise<void> {
  const where = { userId, workspaceId: { in: [...workspaceIds] }, ...live(now) };
  await tx.apiKey.updateMany({ where, data: { revokedAt: now } });
}

/** Limits the life of a key to `latest`, unless it ends before. `false` when no live key within reach has this id. */
export async function shortenApiKey(
  tx: Tx,
  reach: Reach,
  { keyId, latest, now }: { keyId: string; latest: Date; now: Date },
): Promise<boolean> {
  if (!ApiKeyId.safeParse(keyId).success) return false;
  const where = { id: keyId, ...within(reach), ...live(now) };
  if ((await tx.apiKey.count({ where })) === 0) return false;
  await tx.apiKey.updateMany({ where: { ...where, expiresAt: { gt: latest } }, data: { expiresAt: latest } });
  return true;
}

export type StoredApiKey = {
  id: ApiKeyId;
  role: ApiKeyRole;
  scopes: ApiKeyScope[];
  environment: ApiKeyEnvironment | null;
  lastUsedAt: Date | null;
  user: User;
  /** The current membership of the user. */
  membership: Membership;
};

/** Name and owner of a key in any state. `null` for a removed key, or one of another workspace. */
export async function findKeyOf(reader: Reader, workspaceId: string, keyId: string): Promise<ApiKey | null> {
  const row = await reader.apiKey.findUnique({ where: { id: keyId, workspaceId } });
  return row === null ? null : apiKeyOf(row);
}

/** The creators of these keys of the workspace, by key. */
export async function findKeyMakers(
  reader: Reader,
  workspaceId: string,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (keyIds.length === 0) return new Map();
  const where = { workspaceId, id: { in: [...keyIds] } };
  const rows = await reader.apiKey.findMany({ where, select: { id: true, userId: true } });
  return new Map(rows.map(({ id, userId }) => [id, userId]));
}

/** Identifies a key across all workspaces: by its secret, or by the id in a text that this gateway signed. */
type KeyName = { keyHash: string } | { id: ApiKeyId };

/** Reads across all workspaces, since the key determines its own. `null` for an unknown, expired or revoked key. */
export async function findLiveApiKey(reader: Reader, name: KeyName, now: Date): Promise<StoredApiKey | null> {
  const row = await reader.apiKey.findFirst({
    where: { ...name, ...live(now) },
    include: { member: { include: { user: true, workspace: true } } },
  });
  if (row === null) return null;
  const { user } = row.member;
  return {
    id: ApiKeyId.parse(row.id),
    role: ApiKeyRole.parse(row.role),
    scopes: row.scopes.map((scope) => ApiKeyScope.parse(scope)),
    environment: environmentOf(row),
    lastUsedAt: row.lastUsedAt,
    user: userOf(user),
    membership: membershipOf(row.member),
  };
}

/** The times at which a key expires and was revoked. `null` for an unknown key. */
export async function findKeyEnd(
  reader: Reader,
  keyHash: string,
): Promise<{ expiresAt: Date; revokedAt: Date | null } | null> {
  return await reader.apiKey.findUnique({ where: { keyHash }, select: { expiresAt: true, revokedAt: true } });
}

/** Records the last use of a key, unless a use since `before` is already recorded. */
export async function recordUse(tx: Tx, keyId: string, { now, before }: { now: Date; before: Date }): Promise<void> {
  const where = { id: keyId, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: before } }] };
  await tx.apiKey.updateMany({ where, data: { lastUsedAt: now } });
}

/** Removes keys that expired long ago. The audit log keeps their history. */
export async function forgetApiKeys(tx: Tx, before: Date): Promise<void> {
  await tx.apiKey.deleteMany({ where: { expiresAt: { lt: before } } });
}

function environmentOf({ environment }: Pick<ApiKeyModel, 'environment'>): ApiKeyEnvironment | null {
  return environment === null ? null : ApiKeyEnvironment.parse(environment);
}

function apiKeyOf(row: ApiKeyModel): ApiKey {
  return {
    id: ApiKeyId.parse(row.id),
    workspaceId: WorkspaceId.parse(row.workspaceId),
    name: row.name,
    prefix: row.prefix,
    role: ApiKeyRole.parse(row.role),
    scopes: row.scopes.map((scope) => ApiKeyScope.parse(scope)),
    environment: environmentOf(row),
    createdBy: UserId.parse(row.userId),
    createdAt: instantOf(row.createdAt),
    expiresAt: instantOf(row.expiresAt),
    lastUsedAt: instantOrNull(row.lastUsedAt),
    revokedAt: instantOrNull(row.revokedAt),
  };
}
