import type { Client, Progress, Tool } from '@modelcontextprotocol/client';
import type { Permit } from '../../decision/dispatch.ts';
import { sendOperation, type Input, type ToolResult } from './send-operation.ts';
import { sending, type ElicitationModes, type RelayedLogs } from './sending.ts';

/** Parameters of a call besides its permit. */
export type CallOptions = {
  signal: AbortSignal;
  /** Called with the progress that the server reports while the call runs. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Sent to a server over HTTP, so that the call appears in both traces. */
  traceparent?: string | undefined;
  /** The elicitation modes that the caller declared. Without them a server may request nothing. */
  elicitation?: ElicitationModes | undefined;
  /** Receives the logs of the server, from a minimum level up, while the call runs. */
  logs?: RelayedLogs | undefined;
  /** The caller's answers to the server's requests of the previous round. */
  input?: Input | undefined;
};

/**
 * Sends a permitted call with the arguments of its permit. Progress and a second attempt do not extend its time limit.
 */
export function permittedSender(
  permit: Permit,
  { signal, onProgress, traceparent, ...query }: CallOptions,
  timeoutMs: number,
) {
  const { args } = permit.take();
  const giveUpAtMs = performance.now() + timeoutMs;
  const progress = onProgress === undefined ? {} : { onprogress: onProgress };
  const sent = {
    mayStillSend: () => permit.mayStillSend(),
    traceparent: traceparent ?? null,
    elicitation: query.elicitation ?? null,
    logs: query.logs ?? null,
  };
  const sendTo = (client: Client, tool: Tool): Promise<ToolResult> => {
    const timeout = Math.max(0, giveUpAtMs - performance.now());
    const terms = { signal, timeout, maxTotalTimeout: timeout, ...progress };
    return sending.run(sent, () =>
      sendOperation(client, { tool, args, input: query.input ?? null, elicitation: sent.elicitation }, terms),
    );
  };
  return { giveUpAtMs, sendTo };
}
