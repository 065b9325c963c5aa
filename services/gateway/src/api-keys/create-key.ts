import { AppError, type ApiKeyEnvironment, type ApiKeyScope } from '@countersign/contracts';
import type { ApiKey, ApiKeyRole } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { countLiveApiKeys, insertApiKey, shortenApiKey } from '../store/api-keys.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { holdRole } from '../members/hold-role.ts';
import { reachOf } from './reach.ts';
import { apiKeyHash, newApiKey, shownPrefix } from './secret.ts';

const dayMs = 24 * 3_600_000;
/** A replaced key stays valid for this time: long enough to change it in every place that uses it. */
const overlapMs = dayMs;
/** Far more keys than a team needs, and few enough to be read as a list. */
const liveKeysMax = 100;

type NewKey = {
  name: string;
  role: ApiKeyRole;
  scopes: ApiKeyScope[];
  environment?: ApiKeyEnvironment;
  expiresInDays: number;
  replaces?: string;
};

/**
 * Creates a key, and returns it with its secret text, of which only the hash is stored. Throws NOT_FOUND when the key
 * to replace is not active, and RATE_LIMITED when the workspace has 100 active keys.
 */
export async function createKeyOf(
  context: Pick<Context, 'now' | 'transaction'>,
  { caller, requestId, ...request }: NewKey & { caller: WorkspaceCaller; requestId: string },
): Promise<ApiKey & { key: string }> {
  const text = newApiKey();
  const { workspaceId, user, actor } = caller;
  const { name, role, scopes, environment = null, expiresInDays, replaces } = request;
  const made = await context.transaction(async (tx) => {
    const now = context.now();
    await holdRole(tx, caller, role);
    if (replaces !== undefined) await giveADay(tx, { caller, keyId: replaces, now });
    if ((await countLiveApiKeys(tx, workspaceId, now)) >= liveKeysMax)
      throw new AppError(
        'RATE_LIMITED',
        `The workspace has ${liveKeysMax} active keys, which is the limit. Revoke one first`,
      );
    const secret = { prefix: shownPrefix(text), keyHash: apiKeyHash(text) };
    const life = { createdAt: now, expiresAt: new Date(now.getTime() + expiresInDays * dayMs) };
    const key = { workspaceId, userId: user.id, name, role, scopes, environment, ...secret, ...life };
    const stored = await insertApiKey(tx, key);
    const details = { name, role, scopes, environment, expiresAt: stored.expiresAt, replaces: replaces ?? null };
    const event = { workspaceId, action: 'api_key.created', actor, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...event, subject: stored.id, details }, now);
    return stored;
  });
  return { ...made, key: text };
}

type Replaced = { caller: WorkspaceCaller; keyId: string; now: Date };

async function giveADay(tx: Tx, { caller, keyId, now }: Replaced): Promise<void> {
  const latest = new Date(now.getTime() + overlapMs);
  if (!(await shortenApiKey(tx, reachOf(caller), { keyId, latest, now }))) throw notFound();
}
