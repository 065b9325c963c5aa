import { AppError, isAppError } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { disableMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findInstall, lockInstall, markDisabled, type StoredInstall } from '../store/connector-installs.ts';
import { endShimsOf } from './end-shims.ts';
import { installView } from './install-view.ts';
import { knownServer } from './known-server.ts';

type Input = { connectorId: string; reason: string; requestId: string };

/**
 * Disables a connector: revokes its shims at the kernel, and its server unless the server belongs to the installation.
 * The audit log records this. The kernel no longer calls a revoked server. Throws NOT_FOUND and GOVERNANCE_UNAVAILABLE.
 * After an outage the call can be repeated.
 */
export async function disableConnector(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  { connectorId, reason, requestId }: Input,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const { reader } = context.database;
  const { workspaceId, userId } = caller;
  const install = await findInstall(reader, { workspaceId, connectorId });
  if (install === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  await revoke(context, { install, reason }, caller);
  const now = context.now();
  await context.transaction(async (tx) => {
    await lockInstall(tx, install);
    if (!(await markDisabled(tx, install, { disabledBy: userId, disabledAt: now }))) return;
    const act = { action: 'connector.disabled', actor: userId, verdict: 'allow', subject: install.id } as const;
    const details = { connector_id: connectorId, reason };
    await recordAudit(tx, { scope: workspaceId, ...act, details, requestId }, now);
  });
  // From here on no shim can be created.
  await endShimsOf(context, { install, requestId }, caller);
  const current = (await findInstall(reader, { workspaceId, connectorId })) ?? install;
  return installView(current, await knownServer(context, current, caller));
}

/**
 * Revokes the server of this name, however it was registered. A server of the installation belongs to the operator and
 * is left in place.
 */
async function revoke(
  context: Pick<Context, 'kernel'>,
  { install, reason }: { install: StoredInstall; reason: string },
  caller: WorkspaceCaller,
): Promise<void> {
  const server = await knownServer(context, install, caller);
  if (server === null || server.owner === 'installation') return;
  const client = context.kernel.as(caller.assertion, { disableMcpServer });
  const input = { params: { server_id: install.connectorId }, query: {}, body: { reason } };
  try {
    await answerOf('kernel', () => client.disableMcpServer(input));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
  }
}
