import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import type { Outcome } from '../mcp-session/answer.ts';
import type { McpSessions } from '../mcp-session/mcp-sessions.ts';
import type { ClientSession } from '../mcp-session/session-tokens.ts';
import type { LogLevel } from '../mcp-session/log-level.ts';
import type { ElicitationModes } from './sending.ts';

type Question = { method: string; params?: object | undefined };

/** The client of a session, during one of its requests. */
export type SessionClient = {
  readonly session: ClientSession;
  /** `undefined` when the client declared no elicitation. */
  readonly elicitation: ElicitationModes | undefined;
  /** The lowest level of logs that the client receives. */
  readonly level: LogLevel;
  /** Asks on the stream of this request, and waits for the answer. Rejects when `signal` is aborted. */
  ask(question: Question, about: { request: RequestId; signal: AbortSignal }): Promise<Outcome>;
};

/** Sends a message on the stream of a request. */
type SendRelated = (message: JSONRPCMessage, request: RequestId) => Promise<void>;

export function sessionClient(
  { questions, settings }: Pick<McpSessions, 'questions' | 'settings'>,
  session: ClientSession,
  send: SendRelated,
): SessionClient {
  return {
    session,
    elicitation: modesOf(session),
    level: settings.of(session).level,
    ask: async ({ method, params }, { request, signal }) => {
      const sent: RequestId[] = [];
      const close = async (reason: string) => {
        for (const id of sent) await send(cancelled(id, reason), request).catch(() => undefined);
      };
      try {
        const outcome = await questions.ask(session, {
          signal,
          send: async (id) => {
            sent.push(id);
            await send({ jsonrpc: '2.0', id, method, params: paramsOf(params) }, request);
          },
        });
        if (outcome.kind === 'failed') await close(outcome.problem);
        return outcome;
      } catch (error) {
        await close('The call has ended.');
        throw error;
      }
    },
  };
}

function modesOf({ elicitation }: ClientSession): ElicitationModes | undefined {
  if (elicitation === null) return undefined;
  const { form, url } = elicitation;
  return { ...(form === undefined ? {} : { form }), ...(url === undefined ? {} : { url }) };
}

/** Protocol version 2025-11-25 requires an id for a page, and 2026-07-28 has none. */
function paramsOf(params: object = {}): Record<string, unknown> {
  const isPage = 'mode' in params && params.mode === 'url';
  return { ...params, ...(isPage && !('elicitationId' in params) ? { elicitationId: randomUUID() } : {}) };
}

/** Tells the client to close a form that is of no use any more. */
function cancelled(requestId: RequestId, reason: string): JSONRPCMessage {
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } };
}
