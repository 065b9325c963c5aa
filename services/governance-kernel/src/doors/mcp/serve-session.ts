import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { McpSessions } from '../mcp-session/mcp-sessions.ts';
import type { ClientSession } from '../mcp-session/session-tokens.ts';
import type { McpGateway } from './gateway.ts';
import { locateResource, resultOf, type OperationsDeps } from './governed-operations.ts';
import { readResource } from './operations.ts';
import { performAct } from './perform-act.ts';
import { toolAddress } from '../../registry/tool-definition.ts';

type SessionDeps = OperationsDeps & {
  mcp: Pick<McpGateway, 'watchable'>;
  sessions: Pick<McpSessions, 'settings'>;
  session: ClientSession;
};

/**
 * Serves the requests that change the settings of a session. A subscription is decided, executed and sealed as a read of
 * the resource, without its contents, so only a caller that may read a resource can watch it.
 */
export function serveSession(server: Server, deps: SessionDeps): void {
  const { sessions, session, sender } = deps;
  const { settings } = sessions;
  server.setRequestHandler('logging/setLevel', async ({ params: { level } }) => {
    await settings.setLevel(session, level);
    return {};
  });
  server.setRequestHandler('resources/subscribe', async ({ params: { uri: address } }, context) => {
    const { serverId, uri } = await locateResource({ ...deps, context }, address);
    const subscription = { address, serverId, uri };
    if (!settings.hasRoomFor(session, subscription))
      throw refusal('The session has too many subscriptions. Unsubscribe from a resource first', address);
    const tool = toolAddress({ serverId, toolName: readResource });
    const { execution } = await performAct(deps, { tool, args: { uri }, resource: uri }, context);
    resultOf(address, execution, { uri: address });
    if (deps.mcp.watchable(sender.caller.tenant, serverId) === null)
      throw refusal('The server of this resource reports no changes', address);
    await settings.subscribe(session, subscription);
    return {};
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    await settings.unsubscribe(session, uri);
    return {};
  });
}

function refusal(problem: string, uri: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, problem, { uri });
}
