import { AppError, isAppError, type UserId } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { registerMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newAttemptId, newInstallId } from '../ids.ts';
import { requireRoom } from '../orgs/require-room.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import {
  countInstalls,
  findInstall,
  lockInstall,
  takeBackInstall,
  writeInstall,
  type StoredInstall,
} from '../store/connector-installs.ts';
import type { Tx } from '../store/database.ts';
import { readCatalogue, type CatalogueEntry } from './catalogue.ts';
import { installView } from './install-view.ts';
import { isOf, knownServer } from './known-server.ts';

type Asked = { connectorId: string; version: string; headers: Record<string, string>; requestId: string };

/**
 * Registers a connector at the kernel, as its owner: it is quarantined there. The install is written first, so that it
 * counts from then on. Throws INTEGRITY_FAILED, NOT_FOUND, PRECONDITION_FAILED, ALREADY_EXISTS, LIMIT_REACHED, what the
 * kernel refuses, and GOVERNANCE_UNAVAILABLE, after which the install stays and is to be repeated or disabled.
 */
export async function installConnector(
  context: Context,
  asked: Asked,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const entry = await chosenEntry(context, asked);
  await requireFreeName(context, entry, caller);
  const { install, before } = await noteInstall(context, entry, { caller, requestId: asked.requestId });
  try {
    await register(context, { entry, headers: asked.headers }, caller);
  } catch (error) {
    if (isAppError(error) && error.status < 500) await takeBack(context, { install, before }, { caller, error });
    throw error;
  }
  return installView(install, await knownServer(context, entry.connectorId, caller));
}

async function chosenEntry({ config }: Context, { connectorId, version }: Asked): Promise<CatalogueEntry> {
  const entries = await readCatalogue(config.catalogue);
  const entry = entries.find((each) => each.connectorId === connectorId);
  if (entry === undefined) throw new AppError('NOT_FOUND', 'There is no such object');
  if (entry.version === version) return entry;
  const details = { version: entry.version };
  throw new AppError('PRECONDITION_FAILED', 'The catalogue has another version', { param: 'version', details });
}

/** An install must not take over a server that an owner added under this name. Throws ALREADY_EXISTS. */
async function requireFreeName(
  context: Context,
  { connectorId, url }: CatalogueEntry,
  caller: WorkspaceCaller,
): Promise<void> {
  const { workspaceId } = caller;
  const known = await findInstall(context.database.reader, { workspaceId, connectorId });
  const server = await knownServer(context, connectorId, caller);
  if (server === null || isOf({ url }, server) || (known !== null && isOf(known, server))) return;
  const message = `The workspace has another server named "${connectorId}"`;
  throw new AppError('ALREADY_EXISTS', message, { param: 'connector_id' });
}

type By = { caller: WorkspaceCaller; requestId: string };
type Noted = { install: StoredInstall; before: StoredInstall | null };

function noteInstall(context: Context, entry: CatalogueEntry, { caller, requestId }: By): Promise<Noted> {
  const { workspaceId, userId } = caller;
  return context.transaction(async (tx) => {
    const before = await lockInstall(tx, { workspaceId, connectorId: entry.connectorId });
    if (before === null || before.disabledAt !== null) await requireConnectorRoom(tx, workspaceId);
    const install = { ...installOf(entry, userId), id: before?.id ?? newInstallId(), workspaceId };
    const now = context.now();
    await writeInstall(tx, { ...install, installedAt: now });
    const act = { action: 'connector.installed', actor: userId, verdict: 'allow', subject: install.id } as const;
    const { connectorId, version, serverJsonHash, url } = entry;
    const details = { connector_id: connectorId, version, server_json_hash: serverJsonHash, url };
    await recordAudit(tx, { scope: workspaceId, ...act, details, requestId }, now);
    return { install: { ...install, installedAt: now }, before };
  });
}

function installOf({ connectorId, version, serverJsonHash, url }: CatalogueEntry, installedBy: UserId) {
  const named = { connectorId, version, serverJsonHash, url, installedBy, attempt: newAttemptId() };
  return { ...named, disabledBy: null, disabledAt: null };
}

async function requireConnectorRoom(tx: Tx, workspaceId: WorkspaceCaller['workspaceId']): Promise<void> {
  await requireRoom(tx, workspaceId, {
    name: 'connectors',
    things: 'connectors',
    count: (orgId) => countInstalls(tx, orgId),
  });
}

type Registering = { entry: CatalogueEntry; headers: Record<string, string> };

async function register(
  { kernel }: Context,
  { entry: { connectorId, serverJson }, headers }: Registering,
  { assertion }: WorkspaceCaller,
): Promise<void> {
  const body = { server_id: connectorId, server_json: serverJson, headers };
  const asked = kernel.as(assertion, { registerMcpServer });
  await answerOf('kernel', () => asked.registerMcpServer({ query: {}, body }));
}

type Refused = { caller: WorkspaceCaller; error: AppError };

/** The kernel refused it, so nothing was registered. */
async function takeBack(
  { transaction, now }: Context,
  { install, before }: Noted,
  { caller: { workspaceId: scope, userId: actor }, error }: Refused,
): Promise<void> {
  await transaction(async (tx) => {
    if (!(await takeBackInstall(tx, install, before))) return;
    const act = {
      action: 'connector.refused',
      actor,
      verdict: 'fail',
      reason: error.code,
      subject: install.id,
    } as const;
    await recordAudit(tx, { scope, ...act, details: { connector_id: install.connectorId } }, now());
  });
}
