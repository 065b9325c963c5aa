import type { Client, Progress, Tool } from '@modelcontextprotocol/client';
import type { Permit } from '../boundary/dispatch.ts';
import { sendOperation, type Input, type ToolResult } from './send-operation.ts';
import { sending, type ElicitationModes, type RelayedLogs } from './sending.ts';

/** The needs of a call beside its permit. */
export type CallOptions = {
  signal: AbortSignal;
  /** Told what the server says of its progress, while the call runs. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Goes along to a server that is reached over HTTP, so that the call is found in both traces. */
  traceparent?: string | undefined;
  /** The modes of elicitation that the caller declared. Without them a server may ask for nothing. */
  elicitation?: ElicitationModes | undefined;
  /** Hears what the server logs while the call runs, from this level up. */
  logs?: RelayedLogs | undefined;
  /** The caller's answers to what the server asked for in the round before. */
  input?: Input | undefined;
};

/** Takes the arguments of a permit. Progress and a second attempt do not lengthen the time of the call. */
export function permittedSender(
  permit: Permit,
  { signal, onProgress, traceparent, ...asked }: CallOptions,
  timeoutMs: number,
) {
  const { args } = permit.take();
  const giveUpAtMs = performance.now() + timeoutMs;
  const progress = onProgress === undefined ? {} : { onprogress: onProgress };
  const sent = {
    mayStillSend: () => permit.mayStillSend(),
    traceparent: traceparent ?? null,
    elicitation: asked.elicitation ?? null,
    logs: asked.logs ?? null,
  };
  const sendTo = (client: Client, tool: Tool): Promise<ToolResult> => {
    const timeout = Math.max(0, giveUpAtMs - performance.now());
    const terms = { signal, timeout, maxTotalTimeout: timeout, ...progress };
    return sending.run(sent, () =>
      sendOperation(client, { tool, args, input: asked.input ?? null, elicitation: sent.elicitation }, terms),
    );
  };
  return { giveUpAtMs, sendTo };
}
