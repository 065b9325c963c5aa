import type { ServerResponse } from 'node:http';
import { AppError, type SessionId } from '@countersign/contracts';
import type { RunAgentInput } from '@countersign/contracts/governance-kernel';
import type { StoredAnswer } from '@countersign/service-kit';
import type { Caller } from '../call/governed-call.ts';
import { completeChat, type ChatExchange, type ChatParts } from '../chat/complete-chat.ts';
import { judgeWith } from '../chat/judge-calls.ts';
import { ArgumentsRoom, readCalls } from '../chat/read-calls.ts';
import { releaseCalls, toolCallsHeader } from '../chat/release-calls.ts';
import { chatRequest } from './chat-request.ts';
import { resumedCalls, resumes } from './resumed-calls.ts';
import { dataOf, RunEvents, runStream } from './run-events.ts';

export type RunParts = Omit<ChatParts, 'models'> & {
  /** `null` when no model server is configured. */
  models: ChatParts['models'] | null;
  /** The model of a run that names none. `null` when each run must name its own. */
  agentUiModel: string | null;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Run = {
  input: RunAgentInput;
  caller: Caller;
  session: SessionId;
} & Pick<ChatExchange, 'approvalGrant' | 'signal' | 'traceparent' | 'log' | 'requestId'>;

/**
 * Writes one run to its end. A run that resolves interrupts decides the waiting calls again and calls no model. Every other run is a chat
 * completion. Throws errors before the first event. Returns the answer of a model server that sent no stream.
 */
export async function runAgent(parts: RunParts, run: Run, res: ServerResponse): Promise<StoredAnswer | null> {
  const { threadId, runId } = run.input;
  const newId = () => parts.newUlid(parts.clock().getTime());
  const events = new RunEvents({ threadId, runId, newId });
  if (resumes(run.input)) {
    await resume(parts, run, { events, res });
    return null;
  }
  const { models, agentUiModel } = parts;
  if (models === null) throw new AppError('UPSTREAM_NOT_CONFIGURED', 'No model server is configured');
  const request = chatRequest(run.input, agentUiModel);
  const body = Buffer.from(JSON.stringify(request));
  const exchange = { ...run, request, body, form: runStream(events), idempotency: undefined };
  const completed = await completeChat({ ...parts, models }, exchange, res);
  if (completed.kind !== 'performed') throw new Error('Without a key nothing is replayed');
  return completed.result;
}

type Output = { events: RunEvents; res: ServerResponse };

/** The calls are decided before the first event, so an outage is an ordinary error. */
async function resume(parts: RunParts, run: Run, { events, res }: Output): Promise<void> {
  const judge = judgeWith({ ...parts, ...run, deadline: run.signal });
  const proposed = await readCalls(resumedCalls(run.input), new ArgumentsRoom());
  const { allowed, withheld, summary } = releaseCalls(await judge(proposed));
  const toolCalls = toolCallsHeader(summary.decisions);
  const released = [...events.begin(), ...events.text(withheld ?? ''), ...events.release(allowed, summary.decisions)];
  res.writeHead(200, {
    ...(toolCalls === null ? {} : { 'x-gov-tool-calls': toolCalls }),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no',
  });
  res.end(
    dataOf([...released, ...events.end()])
      .map((data) => `data: ${data}\n\n`)
      .join(''),
  );
}
