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
import { endShimsOf } from './end-shims.ts';
import { installView } from './install-view.ts';
import { isConnector, knownServer } from './known-server.ts';

type Deps = Pick<Context, 'config' | 'database' | 'kernel' | 'now' | 'transaction'>;
type InstallDeps = Pick<Context, 'now' | 'transaction'>;

type Input = { connectorId: string; version: string; headers: Record<string, string>; requestId: string };

/**
 * Registers a connector at the kernel as the caller. The kernel quarantines it. The install is written first, so that
 * it counts against limits. Throws INTEGRITY_FAILED, NOT_FOUND, PRECONDITION_FAILED, ALREADY_EXISTS, LIMIT_REACHED,
 * refusals of the kernel, and GOVERNANCE_UNAVAILABLE. After an outage the install stays: repeat the request or disable
 * it.
 */
export async function installConnector(
  context: Deps,
  input: Input,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const entry = await chosenEntry(context, input);
  await requireFreeName(context, entry, caller);
  const { install, before } = await noteInstall(context, entry, { caller, requestId: input.requestId });
  // Shims that are left from before the connector was disabled must not reach the new install.
  if (before !== null && before.disabledAt !== null)
    await endShimsOf(context, { install, requestId: input.requestId }, caller);
  try {
    await register(context, { entry, headers: input.headers }, caller);
  } catch (error) {
    if (isAppError(error) && error.status < 500) await takeBack(context, { install, before }, { caller, error });
    throw error;
  }
  return installView(install, await knownServer(context, install, caller));
}

async function chosenEntry(
  { config }: Pick<Context, 'config'>,
  { connectorId, version }: Input,
): Promise<CatalogueEntry> {
  const entries = await readCatalogue(config.catalogue);
  const entry = entries.find((each) => each.connectorId === connectorId);
  if (entry === undefined)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  if (entry.version === version) return entry;
  const details = { version: entry.version };
  throw new AppError('PRECONDITION_FAILED', 'The catalogue has a different version of this connector. Read it again', {
    param: 'version',
    details,
  });
}

/** An install must not replace a server that an owner added under this name. Throws ALREADY_EXISTS. */
async function requireFreeName(
  context: Pick<Context, 'database' | 'kernel'>,
  entry: CatalogueEntry,
  caller: WorkspaceCaller,
): Promise<void> {
  const { connectorId } = entry;
  const existing = await findInstall(context.database.reader, { workspaceId: caller.workspaceId, connectorId });
  for (const named of [entry, existing ?? []].flat()) {
    const server = await knownServer(context, named, caller);
    if (server === null || isConnector(server)) return;
  }
  const message = `The workspace has another server named "${connectorId}"`;
  throw new AppError('ALREADY_EXISTS', message, { param: 'connector_id' });
}

type By = { caller: WorkspaceCaller; requestId: string };
type Noted = { install: StoredInstall; before: StoredInstall | null };

function noteInstall(context: InstallDeps, entry: CatalogueEntry, { caller, requestId }: By): Promise<Noted> {
  const { workspaceId, userId } = caller;
  return context.transaction(async (tx) => {
    const before = await lockInstall(tx, { workspaceId, connectorId: entry.connectorId });
    if (before === null || before.disabledAt !== null) await requireConnectorRoom(tx, workspaceId);
    const install = { ...installOf(entry, userId), id: before?.id ?? newInstallId(), workspaceId };
    const now = context.now();
    await writeInstall(tx, { ...install, installedAt: now });
    const act = { action: 'connector.installed', actor: userId, verdict: 'allow', subject: install.id } as const;
    const { connectorId, version, serverJsonHash, url } = entry;
    const details = { connector_id: connectorId, version, server_json_hash: serverJsonHash, url: new URL(url).origin };
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
  { kernel }: Pick<Context, 'kernel'>,
  { entry: { connectorId, serverJson }, headers }: Registering,
  { assertion }: WorkspaceCaller,
): Promise<void> {
  const body = { server_id: connectorId, server_json: serverJson, headers };
  const client = kernel.as(assertion, { registerMcpServer });
  await answerOf('kernel', () => client.registerMcpServer({ query: {}, body }));
}

type Refused = { caller: WorkspaceCaller; error: AppError };

/** Restores the row from before the install, since the kernel refused the install and registered nothing. */
async function takeBack(
  { transaction, now }: InstallDeps,
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
