import { AsyncLocalStorage } from 'node:async_hooks';
import type { LoggingMessageNotification } from '@modelcontextprotocol/client';

/** The capability `elicitation` of a client. */
export type ElicitationModes = { form?: object; url?: object };

type LogLine = LoggingMessageNotification['params'];
export type RelayedLogs = { level: LogLine['level']; relay(line: LogLine): void };

type Sent = {
  mayStillSend(): Promise<boolean> | null;
  readonly traceparent: string | null;
  /** The kinds of requests that the caller supports. `null` for none. */
  readonly elicitation: ElicitationModes | null;
  /** `null` when the caller receives no logs. */
  readonly logs: RelayedLogs | null;
};

/**
 * The permit and the trace of the call in progress. The SDK between the call and its connection does not pass them on.
 */
export const sending = new AsyncLocalStorage<Sent>();
