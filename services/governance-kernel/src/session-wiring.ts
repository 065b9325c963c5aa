import { openNotices } from '@countersign/database';
import { createMcpSessions, type SessionTimes } from './doors/mcp-session/mcp-sessions.ts';
import type { Caller } from './call/governed-call.ts';
import type { Core } from './context.ts';
import type { CallableToolsDeps } from './doors/mcp/callable-tools.ts';
import type { ReadableResourcesDeps } from './doors/mcp/readable-resources.ts';
import { findFencesAround } from './store/fence-store.ts';
import { sessionChannel, sessionNotices } from './store/session-notice-store.ts';
import { findActiveHash } from './store/policy-store.ts';
import { findToolStops } from './store/tool-stops.ts';

/** Sessions of MCP clients. A kernel that cannot listen now still accepts the answers that it receives itself. */
export function createSessions(
  { config, log, argsCipher: cipher, clock, transaction }: Core,
  { mcpSessionTimes: times }: { mcpSessionTimes?: SessionTimes },
) {
  const notices = openNotices({
    ...{ url: config.databaseUrl, schema: 'kernel', channel: sessionChannel },
    onNotice: (text) => mcpSessions.receive(text),
    onLost: (error) => log.warn('mcp_sessions.not_listening', { error }),
  });
  const carrier = { listen: () => notices.listen(), send: sessionNotices(transaction) };
  const mcpSessions = createMcpSessions({ cipher, clock, carrier, times });
  void notices.listen();
  return { mcpSessions, notices };
}

/** Reads what the callers of MCP may call now. */
export function createCallableTools({ reader, policies, clock }: Core): CallableToolsDeps & ReadableResourcesDeps {
  return {
    findStops: (caller: Caller, tools: readonly string[]) => findToolStops(reader, caller, tools),
    findFences: ({ tenant, principal }, tools) => findFencesAround(reader, { tenant, principal, tools }),
    activePolicy: async ({ tenant }: Caller) => {
      // A decision notices by itself that the policy has changed. A list of tools does not, so this code checks for a
      // change.
      if ((await findActiveHash(reader, tenant)) !== (policies.current(tenant)?.hash ?? null))
        await policies.reload(tenant);
      return policies.current(tenant);
    },
    now: () => clock().getTime(),
  };
}
