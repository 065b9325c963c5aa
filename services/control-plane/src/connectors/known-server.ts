import { AppError, isAppError } from '@countersign/contracts';
import { compareMcpServerAddress } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { StoredInstall } from '../store/connector-installs.ts';

/** A server of the kernel, and whether it has the address of a connector. */
export type KnownServer = z.infer<typeof compareMcpServerAddress.reply>;

/**
 * The state at the kernel of the server with the name of a connector. `null` when the kernel has none of this name. The
 * kernel compares the addresses, since it shows none.
 */
export async function knownServer(
  { kernel }: Pick<Context, 'kernel'>,
  { connectorId, url }: Pick<StoredInstall, 'connectorId' | 'url'>,
  { assertion }: Pick<WorkspaceCaller, 'assertion'>,
): Promise<KnownServer | null> {
  const client = kernel.as(assertion, { compareMcpServerAddress });
  const input = { params: { server_id: connectorId }, query: {}, body: { url } };
  try {
    return await answerOf('kernel', () => client.compareMcpServerAddress(input));
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}

/**
 * Whether this is the server that the connector was installed as. An owner may have given its name to another server
 * since.
 */
export function isConnector({ owner, transport, has_address: hasAddress }: KnownServer): boolean {
  return owner === 'tenant' && transport === 'http' && hasAddress;
}

/** Throws ILLEGAL_TRANSITION when the kernel has another server, or none, under the name of the connector. */
export function requireConnector(server: KnownServer | null): KnownServer {
  if (server !== null && isConnector(server)) return server;
  const message = 'The kernel has no server of this connector under its name. Install it again';
  throw new AppError('ILLEGAL_TRANSITION', message, { details: { allowed: ['install'] } });
}
