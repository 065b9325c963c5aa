import { AsyncLocalStorage } from 'node:async_hooks';
import type { LoggingMessageNotification } from '@modelcontextprotocol/client';

/** The capability `elicitation` of a client. */
export type ElicitationModes = { form?: object; url?: object };

type LogLine = LoggingMessageNotification['params'];
export type RelayedLogs = { level: LogLine['level']; relay(line: LogLine): void };

type Sent = {
  mayStillSend(): Promise<boolean> | null;
  readonly traceparent: string | null;
  /** The kinds of questions that the caller supports. `null` when nothing. */
  readonly elicitation: ElicitationModes | null;
  /** `null` when the caller hears no logs. */
  readonly logs: RelayedLogs | null;
};

/** The permit and the trace of the call that is being sent: between it and its connection stands the SDK, which hands nothing on. */
export const sending = new AsyncLocalStorage<Sent>();
