import { AppError, isAppError, PrincipalId, type InstallId } from '@countersign/contracts';
import type { Shim } from '@countersign/contracts/control-plane';
import { createAccessKey } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newShimId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findInstallById, lockInstall, type StoredInstall } from '../store/connector-installs.ts';
import { confirmShim, deleteShim, insertShim, listLiveShims, type StoredShim } from '../store/connector-shims.ts';
import { endKey, endShim } from './end-shims.ts';
import { isConnector, knownServer, requireConnector, type KnownServer } from './known-server.ts';
import { shimView } from './shim-view.ts';

type Deps = Pick<Context, 'config' | 'database' | 'gateway' | 'kernel' | 'now' | 'transaction'>;
type CreateShimDeps = Pick<Context, 'now' | 'transaction'>;

type Terms = { installId: InstallId; client: string; expiresInDays: number; requestId: string };
type Made = Shim & {
  tools: string[];
  credential: string;
  client_configuration: {
    mcpServers: Record<string, { type: 'http'; url: string; headers: Record<string, string> }>;
  };
};

/** Each shim serves one client. More live shims than this suggest forgotten ones. */
const liveShimsMax = 20;
/** The kernel permits at most this many tools for one key. */
const toolsMax = 200;
const dayMs = 86_400_000;

/**
 * Creates a kernel key for the pinned tools of a connector. The row is written first, so that a key can be found by its
 * principal and ended when the response with the key is lost. Throws NOT_FOUND, ILLEGAL_TRANSITION for a connector that
 * is disabled, replaced or not approved, LIMIT_REACHED, and GOVERNANCE_UNAVAILABLE.
 */
export async function createShim(context: Deps, terms: Terms, caller: WorkspaceCaller): Promise<Made> {
  const { workspaceId } = caller;
  const install = await findInstallById(context.database.reader, { workspaceId, id: terms.installId });
  if (install === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  requireEnabled(install);
  const tools = pinnedTools(install, requireConnector(await knownServer(context, install, caller)));
  const shim = await noteShim(context, { install, terms }, caller);
  const { key, key_id: keyId } = await makeKey(context, { shim, terms, tools }, caller);
  if (!(await confirm(context, { install, shim: { ...shim, keyId } }))) {
    await endKey(context, { ...shim, keyId }, caller);
    throw disabled();
  }
  await endIfReplaced(context, { install, shim: { ...shim, keyId }, requestId: terms.requestId }, caller);
  const view = shimView({ ...shim, keyId }, { connectorId: install.connectorId, receiptId: null });
  const headers = { Authorization: `Bearer ${key}` };
  const server = { type: 'http', url: `${new URL(context.config.consoleUrl).origin}/mcp`, headers } as const;
  const client_configuration = { mcpServers: { [install.connectorId]: server } };
  return { ...view, tools, credential: key, client_configuration };
}

type Replaced = { install: StoredInstall; shim: StoredShim; requestId: string };

/**
 * Ends the shim and throws ILLEGAL_TRANSITION if the server of the connector was replaced or removed while the key was
 * made.
 */
async function endIfReplaced(
  context: Pick<Context, 'kernel' | 'now' | 'transaction'>,
  { install, shim, requestId }: Replaced,
  caller: WorkspaceCaller,
): Promise<void> {
  const server = await knownServer(context, install, caller);
  if (server !== null && isConnector(server)) return;
  await endShim(context, { shim, requestId }, caller);
  requireConnector(null);
}

function disabled(): AppError {
  const details = { allowed: ['install'] };
  return new AppError('ILLEGAL_TRANSITION', 'The connector is disabled. Install it again', { details });
}

function requireEnabled({ disabledAt }: StoredInstall): void {
  if (disabledAt !== null) throw disabled();
}

/** The approved tools whose definitions have not changed since. Throws ILLEGAL_TRANSITION and LIMIT_REACHED. */
function pinnedTools({ connectorId }: StoredInstall, { state, tools }: KnownServer): string[] {
  const pinned = tools.filter(({ pin }) => pin === 'in_sync').map(({ name }) => `${connectorId}.${name}`);
  if (state !== 'approved' || pinned.length === 0)
    throw new AppError('ILLEGAL_TRANSITION', 'The connector has no approved tools. Approve it first', {
      details: { state, allowed: ['approve'] },
    });
  if (pinned.length <= toolsMax) return pinned;
  const message = `The connector has ${pinned.length} tools, and a shim reaches at most ${toolsMax}. Approve fewer tools`;
  throw new AppError('LIMIT_REACHED', message, { details: { name: 'tools', limit: toolsMax, used: pinned.length } });
}

function noteShim(
  context: CreateShimDeps,
  { install, terms: { client, expiresInDays, requestId } }: { install: StoredInstall; terms: Terms },
  { workspaceId, userId }: WorkspaceCaller,
): Promise<StoredShim> {
  return context.transaction(async (tx) => {
    const current = await lockInstall(tx, install);
    if (current === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    requireEnabled(current);
    const now = context.now();
    const shims = await listLiveShims(tx, { workspaceId, installId: install.id });
    const live = shims.filter(({ expiresAt }) => expiresAt > now).length;
    if (live >= liveShimsMax) {
      const details = { name: 'shims', limit: liveShimsMax, used: live };
      const message = `The connector has ${live} shims, which is the limit. Revoke one that is not needed`;
      throw new AppError('LIMIT_REACHED', message, { details });
    }
    const id = newShimId();
    const shim: StoredShim = {
      ...{ id, workspaceId, installId: install.id, client, principal: PrincipalId.parse(`shim:${id}`), keyId: null },
      ...{ createdBy: userId, createdAt: now, expiresAt: new Date(now.getTime() + expiresInDays * dayMs) },
      ...{ revokedBy: null, revokedAt: null },
    };
    await insertShim(tx, shim);
    const act = { action: 'shim.created', actor: userId, verdict: 'allow', subject: id } as const;
    const details = { install_id: install.id, connector_id: install.connectorId, client };
    await recordAudit(tx, { scope: workspaceId, ...act, details, requestId }, now);
    return shim;
  });
}

type Making = { shim: StoredShim; terms: Terms; tools: string[] };

/** Creates the key by the route of the gateway, which checks proof of presence and the settings of the workspace. */
async function makeKey(
  context: Pick<Context, 'gateway' | 'now' | 'transaction'>,
  { shim, terms, tools }: Making,
  { delegation }: WorkspaceCaller,
) {
  const client = context.gateway.as(delegation, { createAccessKey });
  const body = {
    ...({ kind: 'agent', principal_id: shim.principal, expires_in_days: terms.expiresInDays } as const),
    ...{ doors: ['mcp' as const], tools },
  };
  try {
    return await answerOf('kernel', () => client.createAccessKey({ query: {}, body }));
  } catch (error) {
    if (isAppError(error) && error.status < 500) await takeBack(context, { shim, error });
    throw error;
  }
}

/** Removes the row of a shim whose key was refused. */
async function takeBack(
  { transaction, now }: CreateShimDeps,
  { shim, error: { code: reason } }: { shim: StoredShim; error: AppError },
): Promise<void> {
  const { id: subject, workspaceId: scope, createdBy: actor, installId } = shim;
  await transaction(async (tx) => {
    await deleteShim(tx, shim);
    const act = { action: 'shim.refused', actor, verdict: 'fail', reason, subject } as const;
    await recordAudit(tx, { scope, ...act, details: { install_id: installId } }, now());
  });
}

type Confirming = { install: StoredInstall; shim: StoredShim & { keyId: NonNullable<StoredShim['keyId']> } };

/** `false` when the connector was disabled, or the shim revoked, while the key was created. */
function confirm(context: Pick<Context, 'transaction'>, { install, shim }: Confirming): Promise<boolean> {
  return context.transaction(async (tx) => {
    const current = await lockInstall(tx, install);
    if (current === null || current.disabledAt !== null) return false;
    return confirmShim(tx, shim, shim.keyId);
  });
}
