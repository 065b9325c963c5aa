import { AppError, isAppError, type AccessKeyId } from '@countersign/contracts';
import { listAccessKeys, revokeAccessKey, type AccessKey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import type { StoredInstall } from '../store/connector-installs.ts';
import { listLiveShims, markShimRevoked, type StoredShim } from '../store/connector-shims.ts';

type End = { shim: StoredShim; requestId: string };

/**
 * Revokes the key of a shim at the kernel and records the revocation. From then on, the kernel allows no call with this
 * key. Throws GOVERNANCE_UNAVAILABLE. The call can then be repeated.
 */
export async function endShim(
  context: Pick<Context, 'kernel' | 'now' | 'transaction'>,
  { shim, requestId }: End,
  caller: WorkspaceCaller,
): Promise<void> {
  const { workspaceId: scope, userId: actor } = caller;
  const keyId = await endKey(context, shim, caller);
  const now = context.now();
  await context.transaction(async (tx) => {
    if (!(await markShimRevoked(tx, shim, { keyId, revokedBy: actor, revokedAt: now }))) return;
    const act = { action: 'shim.revoked', actor, verdict: 'allow', subject: shim.id } as const;
    await recordAudit(tx, { scope, ...act, details: { install_id: shim.installId }, requestId }, now);
  });
}

/** Ends every live shim of an install, since another server may get the name of the connector later. */
export async function endShimsOf(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  { install, requestId }: { install: StoredInstall; requestId: string },
  caller: WorkspaceCaller,
): Promise<void> {
  const { workspaceId, id: installId } = install;
  for (const shim of await listLiveShims(context.database.reader, { workspaceId, installId }))
    await endShim(context, { shim, requestId }, caller);
}

/**
 * Ends the key of a shim at the kernel and returns its ID. `null` when no ID is stored and the kernel lists no such
 * key.
 */
export async function endKey(
  { kernel }: Pick<Context, 'kernel'>,
  shim: StoredShim,
  { assertion }: WorkspaceCaller,
): Promise<AccessKeyId | null> {
  const client = kernel.as(assertion, { listAccessKeys, revokeAccessKey });
  const list = (cursor?: string) =>
    answerOf('kernel', () => client.listAccessKeys({ query: cursor === undefined ? {} : { cursor } })); // `limit` has a default
  const keyId = shim.keyId ?? (await keyOf(list, shim));
  if (keyId === null) return null;
  await answerOf('kernel', () => client.revokeAccessKey({ params: { key_id: keyId }, query: {} })).catch(
    (error: unknown) => {
      if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
    },
  );
  return keyId;
}

type KeyPage = { data: AccessKey[]; next_cursor: string | null };

/** The most pages that are searched for a key when the response that contained its ID was lost. */
const pagesMax = 100;
/** The greatest difference between the clocks of two services. */
const clockSkewMs = 60_000;

/** Finds the key of this principal. Keys are listed newest first, so keys older than the shim are not read. */
async function keyOf(
  list: (cursor?: string) => Promise<KeyPage>,
  { principal, createdAt }: StoredShim,
): Promise<AccessKeyId | null> {
  const sinceMs = createdAt.getTime() - clockSkewMs;
  let cursor: string | undefined;
  for (let read = 0; read < pagesMax; read += 1) {
    const { data, next_cursor: next } = await list(cursor);
    const key = data.find(({ principal_id: holder }) => holder === principal);
    if (key !== undefined) return key.key_id;
    if (next === null || data.some(({ created_at: at }) => Date.parse(at) < sinceMs)) return null;
    cursor = next;
  }
  throw new AppError('GOVERNANCE_UNAVAILABLE', 'The key of the shim was not found among the newest keys');
}
