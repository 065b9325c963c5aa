import type { ServerResponse } from 'node:http';
import { AppError, type SessionId } from '@countersign/contracts';
import type { RunAgentInput } from '@countersign/contracts/governance-kernel';
import type { StoredAnswer } from '@countersign/service-kit';
import type { Caller } from '../../call/governed-call.ts';
import { completeChat, type ChatExchange, type ChatDeps } from '../chat/complete-chat.ts';
import { judgeWith } from '../chat/judge-calls.ts';
import { ArgumentsRoom, readCalls } from '../chat/read-calls.ts';
import { releaseCalls, toolCallsHeader } from '../chat/release-calls.ts';
import { chatRequest } from './chat-request.ts';
import { resumedCalls, resumes } from './resumed-calls.ts';
import { dataOf, RunEvents, runStream } from './run-events.ts';

export type RunDeps = Omit<ChatDeps, 'models'> & {
  /** `null` when no model server is configured. */
  models: ChatDeps['models'] | null;
  /** The model of a run that specifies none. `null` when each run must specify its own. */
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
 * Writes all events of one run. A run that resolves interrupts decides the waiting calls again and calls no model.
 * Every other run is a chat completion. Errors before the first event are thrown. Returns the answer of a model server
 * that sent no stream.
 */
export async function runAgent(deps: RunDeps, run: Run, res: ServerResponse): Promise<StoredAnswer | null> {
  const { threadId, runId } = run.input;
  const newId = () => deps.newUlid(deps.clock().getTime());
  const events = new RunEvents({ threadId, runId, newId });
  if (resumes(run.input)) {
    await resume(deps, run, { events, res });
    return null;
  }
  const { models, agentUiModel } = deps;
  if (models === null)
    throw new AppError('UPSTREAM_NOT_CONFIGURED', 'This kernel has no model server. Ask its operator to configure one');
  const request = chatRequest(run.input, agentUiModel);
  const body = Buffer.from(JSON.stringify(request));
  const exchange = { ...run, request, body, form: runStream(events), idempotency: undefined };
  const completed = await completeChat({ ...deps, models }, exchange, res);
  if (completed.kind !== 'performed') throw new Error('A run without an idempotency key was replayed');
  return completed.result;
}

type Output = { events: RunEvents; res: ServerResponse };

/** The calls are decided before the first event is sent, so an outage is answered with an ordinary error. */
async function resume(deps: RunDeps, run: Run, { events, res }: Output): Promise<void> {
  const judge = judgeWith({ ...deps, ...run, deadline: run.signal });
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
