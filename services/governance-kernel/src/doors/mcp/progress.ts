import type { Progress } from '@modelcontextprotocol/client';
import { LOG_LEVEL_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { LogLevel } from '../mcp-session/log-level.ts';
import type { RelayedLogs } from './sending.ts';

type Relay = (progress: Progress) => void;

/** The log level for clients of 2025-11-25 without a session, whose `logging/setLevel` cannot be kept. */
const levelWithoutSession = 'info';
/** The longest log line, including its values. */
const logLengthMax = 8_000;

/** Enough for three notifications a second during the default duration of a call. More would only burden a caller. */
const notificationsMax = 200;
/** The longest line for a progress bar. */
const messageLengthMax = 1_000;

/** Forwards the progress of a call to its sender, under the token from the message. `undefined` without a token. */
export function relayTo({ _meta, notify }: ServerContext['mcpReq']): Relay | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    // A caller that has gone gets no progress. The call continues to its end.
    notify({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => undefined);
  };
}

/**
 * Forwards logs of a call to its sender, from the sender's level up. `undefined` when the sender requested no logs.
 * `ofSession` is the level of a session, and `null` without one.
 */
export function relayLogsTo(
  { envelope, log }: ServerContext['mcpReq'],
  ofSession: RelayedLogs['level'] | null,
): RelayedLogs | undefined {
  const level = envelope === undefined ? (ofSession ?? levelWithoutSession) : logLevelOf(envelope);
  if (level === undefined) return undefined;
  let reported = 0;
  return {
    level,
    relay: ({ level: of, data, logger }) => {
      if (LogLevel.options.indexOf(of) < LogLevel.options.indexOf(level)) return;
      reported += 1;
      if (reported > notificationsMax || JSON.stringify(data ?? null).length > logLengthMax) return;
      log(of, data, logger?.slice(0, messageLengthMax)).catch(() => undefined);
    },
  };
}

function logLevelOf(envelope: object): RelayedLogs['level'] | undefined {
  return z.looseObject({ [LOG_LEVEL_META_KEY]: LogLevel }).safeParse(envelope).data?.[LOG_LEVEL_META_KEY];
}

/** Forwards a limited number of notifications, each with only its known members and a text of limited length. */
export function boundedProgress(relay: Relay): Relay {
  let reported = 0;
  return ({ progress, total, message }) => {
    reported += 1;
    if (reported > notificationsMax) return;
    relay({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: message.slice(0, messageLengthMax) }),
    });
  };
}
