import { AppError, isAppError } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { disableMcpServer } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findInstall, markDisabled, type StoredInstall } from '../store/connector-installs.ts';
import { installView } from './install-view.ts';
import { knownServer } from './known-server.ts';

type Asked = { connectorId: string; reason: string; requestId: string };

/**
 * Has the kernel revoke the server, and then notes it: when this returns, no kernel calls the server any more. Throws
 * NOT_FOUND, and GOVERNANCE_UNAVAILABLE, after which it is to be repeated.
 */
export async function disableConnector(
  context: Context,
  { connectorId, reason, requestId }: Asked,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const { reader } = context.database;
  const { workspaceId, userId } = caller;
  const install = await findInstall(reader, { workspaceId, connectorId });
  if (install === null) throw new AppError('NOT_FOUND', 'There is no such object');
  await revoke(context, { install, reason }, caller);
  const now = context.now();
  await context.transaction(async (tx) => {
    if (!(await markDisabled(tx, install, { disabledBy: userId, disabledAt: now }))) return;
    const act = { action: 'connector.disabled', actor: userId, verdict: 'allow', subject: install.id } as const;
    const details = { connector_id: connectorId, reason };
    await recordAudit(tx, { scope: workspaceId, ...act, details, requestId }, now);
  });
  const standing = (await findInstall(reader, { workspaceId, connectorId })) ?? install;
  return installView(standing, await knownServer(context, connectorId, caller));
}

/**
 * A server of the installation is its operator's, and no connector. Any other of this name is revoked: whatever it was
 * registered as, the person wants no call of it.
 */
async function revoke(
  context: Context,
  { install, reason }: { install: StoredInstall; reason: string },
  caller: WorkspaceCaller,
): Promise<void> {
  const server = await knownServer(context, install.connectorId, caller);
  if (server === null || server.owner === 'installation') return;
  const asked = context.kernel.as(caller.assertion, { disableMcpServer });
  const input = { params: { server_id: install.connectorId }, query: {}, body: { reason } };
  try {
    await answerOf('kernel', () => asked.disableMcpServer(input));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
  }
}
