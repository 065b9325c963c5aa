import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@countersign/contracts';
import { isInitializeRequest } from '@modelcontextprotocol/server';
import type { ClientSession, SessionOwner, SessionTokens } from './session-tokens.ts';

/** Protocol versions from this one on have no sessions. */
const sessionlessRevision = '2026-07-28';

/**
 * The session that a request names. `null` when it names none. Throws NOT_FOUND, after which a client initializes again
 * (MCP 2025-11-25, Session Management).
 */
export function sessionOf(
  tokens: Pick<SessionTokens, 'open'>,
  owner: SessionOwner,
  headers: IncomingHttpHeaders,
): ClientSession | null {
  const token = headers['mcp-session-id'];
  const version = headers['mcp-protocol-version'];
  if (token === undefined || (typeof version === 'string' && version >= sessionlessRevision)) return null;
  const session = typeof token === 'string' ? tokens.open(owner, token) : null;
  if (session === null)
    throw new AppError('NOT_FOUND', 'The session of Mcp-Session-Id is unknown or has ended. Send `initialize` again');
  return session;
}

/** The capabilities in an `initialize` request. `null` for any other message. */
export function initializeIn(message: unknown): object | null {
  return isInitializeRequest(message) ? message.params.capabilities : null;
}
