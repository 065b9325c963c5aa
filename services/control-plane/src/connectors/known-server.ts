import { AppError, isAppError } from '@countersign/contracts';
import { getMcpServer, type McpServerDetail } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { StoredInstall } from '../store/connector-installs.ts';

/** The kernel's knowledge of a server of the caller's workspace. `null`: it knows none of this name. */
export async function knownServer(
  { kernel }: Pick<Context, 'kernel'>,
  serverId: string,
  { assertion }: Pick<WorkspaceCaller, 'assertion'>,
): Promise<McpServerDetail | null> {
  const asked = kernel.as(assertion, { getMcpServer });
  const input = { params: { server_id: serverId }, query: {} };
  try {
    return await answerOf('kernel', () => asked.getMcpServer(input));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

/** The server that the connector was installed as: an owner may have given its name to another one since. */
export function isOf({ url }: Pick<StoredInstall, 'url'>, { owner, transport, config }: McpServerDetail): boolean {
  const { origin, pathname } = new URL(url);
  return owner === 'tenant' && transport === 'http' && config['url'] === `${origin}${pathname}`;
}

/** Throws ILLEGAL_TRANSITION. */
export function requireServerOf(install: StoredInstall, server: McpServerDetail | null): McpServerDetail {
  if (server !== null && isOf(install, server)) return server;
  const message = 'The kernel has no server of this connector under its name. Install it again';
  throw new AppError('ILLEGAL_TRANSITION', message, { details: { allowed: ['install'] } });
}
