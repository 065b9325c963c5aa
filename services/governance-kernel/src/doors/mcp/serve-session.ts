import type { Server } from '@modelcontextprotocol/server';
import type { McpSessions } from '../mcp-session/mcp-sessions.ts';
import type { ClientSession } from '../mcp-session/session-tokens.ts';

type SessionDeps = { sessions: Pick<McpSessions, 'settings'>; session: ClientSession };

/** Serves the requests that change the settings of a session. */
export function serveSession(server: Server, { sessions: { settings }, session }: SessionDeps): void {
  server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
    await settings.setLevel(session, level);
    return {};
  });
}
