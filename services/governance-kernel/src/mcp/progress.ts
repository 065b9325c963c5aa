import type { Progress } from '@modelcontextprotocol/client';
import { LOG_LEVEL_META_KEY, type ServerContext } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { RelayedLogs } from './sending.ts';

type Relay = (progress: Progress) => void;

/** The level of a client of 2025-11-25: its `logging/setLevel` went to a server that ended with that request. */
const legacyLevel = 'info';
/** A line of a log with the values in it. */
const logLengthMax = 8_000;

/** Three a second for as long as a call may take by default: more would only keep a caller busy. */
const notificationsMax = 200;
/** A line for a progress bar. */
const messageLengthMax = 1_000;

/** Tells the sender of a message of the progress of its call, under the token that it chose; undefined when it chose none. */
export function relayTo({ _meta, notify }: ServerContext['mcpReq']): Relay | undefined {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    // A caller that left gets no progress; the call goes on to its end.
    notify({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => undefined);
  };
}

/** Tells the sender of a message what is logged during its call; undefined when it wants no logs. */
export function relayLogsTo({ envelope, log }: ServerContext['mcpReq']): RelayedLogs | undefined {
  const level = envelope === undefined ? legacyLevel : logLevelOf(envelope);
  if (level === undefined) return undefined;
  let told = 0;
  return {
    level,
    relay: ({ level: of, data, logger }) => {
      told += 1;
      if (told > notificationsMax || JSON.stringify(data ?? null).length > logLengthMax) return;
      log(of, data, logger?.slice(0, messageLengthMax)).catch(() => undefined);
    },
  };
}

function logLevelOf(envelope: object): RelayedLogs['level'] | undefined {
  return z.looseObject({ [LOG_LEVEL_META_KEY]: LogLevel }).safeParse(envelope).data?.[LOG_LEVEL_META_KEY];
}

const LogLevel = z.enum(['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency']);

/** Passes on so many notifications and no more, and of each the members that the protocol knows, its text cut to a line. */
export function boundedProgress(relay: Relay): Relay {
  let told = 0;
  return ({ progress, total, message }) => {
    told += 1;
    if (told > notificationsMax) return;
    relay({
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message: message.slice(0, messageLengthMax) }),
    });
  };
}
