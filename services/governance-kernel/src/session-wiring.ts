import { openNotices } from '@countersign/database';
import { createMcpSessions } from './doors/mcp-session/mcp-sessions.ts';
import type { Core } from './context.ts';
import { sessionChannel, sessionNotices } from './store/session-notice-store.ts';

/** Sessions of MCP clients. A kernel that cannot listen now still accepts the answers that it receives itself. */
export function createSessions(
  { config, log, argsCipher: cipher, clock, transaction }: Core,
  { mcpAnswerWaitMs: answerWaitMs }: { mcpAnswerWaitMs?: number },
) {
  const notices = openNotices({
    ...{ url: config.databaseUrl, schema: 'kernel', channel: sessionChannel },
    onNotice: (text) => mcpSessions.receive(text),
    onLost: (error) => log.warn('mcp_sessions.not_listening', { error }),
  });
  const carrier = { listen: () => notices.listen(), send: sessionNotices(transaction) };
  const mcpSessions = createMcpSessions({ cipher, clock, carrier, answerWaitMs });
  void notices.listen();
  return { mcpSessions, notices };
}
