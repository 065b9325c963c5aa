import { isList, reasonCodes } from '@countersign/contracts';
import type { AgentUiEvent, RunAgentInput, WithheldCall } from '@countersign/contracts/governance-kernel';
import { isJsonObject, type JsonObject } from '../chat/passive-members.ts';
import type { StreamForm } from '../chat/relay-stream.ts';
import type { DecisionSummary } from '../chat/release-calls.ts';
import type { ErrorBody } from '../chat/upstream-error.ts';
import { ownError } from './own-error.ts';

type EventOf<Type extends AgentUiEvent['type']> = Extract<AgentUiEvent, { type: Type }>;
type Interrupt = Extract<EventOf<'RUN_FINISHED'>['outcome'], { type: 'interrupt' }>['interrupts'][number];

/** The decision on a call that waits for an approval. */
type WaitingDecision = DecisionSummary & Required<Pick<DecisionSummary, 'approval_id' | 'approve_url' | 'expires_at'>>;

type RunOptions = Pick<RunAgentInput, 'threadId' | 'runId'> & { newId: () => string };

/**
 * The events of one run. A withheld call is reported in the text and in an event. If a person can approve it, it is
 * also an interrupt.
 */
export class RunEvents {
  readonly #options: RunOptions;
  /** The id of the assistant message that contains the text and the calls. */
  readonly #messageId: string;
  #text: 'none' | 'open' | 'closed' = 'none';
  readonly #pending: string[] = [];
  readonly #waiting: { decision: WaitingDecision; call: WithheldCall }[] = [];
  #usage: JsonObject | null = null;
  #model: unknown = null;

  constructor(options: RunOptions) {
    this.#options = options;
    this.#messageId = options.newId();
  }

  begin(): AgentUiEvent[] {
    const { threadId, runId } = this.#options;
    return [{ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }];
  }

  /** Converts a governed chunk of a chat completion. A run requests one choice. */
  chunk({ choices, usage, model }: JsonObject, decisions: readonly DecisionSummary[]): AgentUiEvent[] {
    if (isJsonObject(usage)) this.#usage = usage;
    this.#model = model ?? this.#model;
    const [choice] = isList(choices) ? choices : [];
    const delta = isJsonObject(choice) && isJsonObject(choice['delta']) ? choice['delta'] : {};
    const { content, refusal, tool_calls: toolCalls, function_call: legacy } = delta;
    const calls = [...(isList(toolCalls) ? toolCalls : []), ...(isJsonObject(legacy) ? [legacy] : [])];
    const text = textOf(content) || textOf(refusal);
    return [...this.text(text), ...this.release(calls.filter(isJsonObject), decisions)];
  }

  text(delta: string): AgentUiEvent[] {
    if (delta === '') return [];
    const messageId = this.#messageId;
    const started: AgentUiEvent[] =
      this.#text === 'open' ? [] : [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
    this.#text = 'open';
    return [...started, { type: 'TEXT_MESSAGE_CONTENT', messageId, delta }];
  }

  /** The events of the released calls, in the order of their decisions, and of the withheld calls. */
  release(calls: readonly JsonObject[], decisions: readonly DecisionSummary[]): AgentUiEvent[] {
    if (decisions.length === 0) return [];
    const allowed = decisions.filter(({ verdict }) => verdict === 'ALLOW');
    const withheld = decisions.filter(({ verdict }) => verdict !== 'ALLOW');
    for (const decision of withheld) if (isWaiting(decision)) this.#wait(decision);
    return [
      ...this.#closeText(),
      ...calls.flatMap((call, nth) => this.#call(call, allowed[nth])),
      ...withheld.map(withheldEvent),
    ];
  }

  end(): AgentUiEvent[] {
    const { threadId, runId } = this.#options;
    const usage = usageOf(this.#usage, this.#model);
    const outcome = this.#outcome();
    return [...this.#closeText(), { type: 'RUN_FINISHED', threadId, runId, outcome, ...(usage ? { usage } : {}) }];
  }

  fail(error: ErrorBody): AgentUiEvent[] {
    const { message, code, request_id, retryable } = ownError(error);
    return [{ type: 'RUN_ERROR', message, code, metadata: { countersign: { request_id, retryable } } }];
  }

  #outcome(): EventOf<'RUN_FINISHED'>['outcome'] {
    const ids = new Set(this.#waiting.map(({ call }) => call.approval_id));
    if (ids.size > 0) return { type: 'interrupt', interrupts: [...ids].flatMap((id) => this.#interrupt(id)) };
    return this.#pending.length === 0 ? { type: 'success' } : { type: 'success', pendingToolCallIds: this.#pending };
  }

  /** Equal calls share one approval and one interrupt. */
  #interrupt(id: string): Interrupt[] {
    const calls = this.#waiting.filter(({ call }) => call.approval_id === id);
    const [first] = calls;
    if (first === undefined) return [];
    const { tool, reason_code: code, approval_id, approve_url, expires_at } = first.decision;
    return [
      {
        id: approval_id,
        reason: 'approval',
        message: `${tool}: ${reasonCodes[code].says}. Decide the approval at ${approve_url}, then resume the run.`,
        expiresAt: expires_at,
        metadata: { countersign: { approve_url, withheld: calls.map(({ call }) => call) } },
      },
    ];
  }

  #wait(decision: WaitingDecision): void {
    const { approval_id, tool, name = tool, tool_call_id, arguments: text = '' } = decision;
    const call = { approval_id, tool: name, tool_call_id: tool_call_id ?? this.#options.newId(), arguments: text };
    this.#waiting.push({ decision, call });
  }

  /**
   * The client stores the metadata with the message and sends both with the next run, which reads the calls from the
   * metadata.
   */
  #closeText(): AgentUiEvent[] {
    if (this.#text !== 'open') return [];
    this.#text = 'closed';
    const withheld = this.#waiting.map(({ call }) => call);
    const metadata = withheld.length === 0 ? {} : { metadata: { countersign: { withheld } } };
    return [{ type: 'TEXT_MESSAGE_END', messageId: this.#messageId, ...metadata }];
  }

  #call(call: JsonObject, decision: DecisionSummary | undefined): AgentUiEvent[] {
    const { id, name, text } = calledBy(call);
    const toolCallId = id === null || this.#pending.includes(id) ? this.#options.newId() : id;
    this.#pending.push(toolCallId);
    const { decision_id, receipt_id } = decision ?? {};
    const start = { toolCallId, toolCallName: name, parentMessageId: this.#messageId };
    return [
      { type: 'TOOL_CALL_START', ...start, metadata: { countersign: { decision_id, receipt_id } } },
      { type: 'TOOL_CALL_ARGS', toolCallId, delta: text },
      { type: 'TOOL_CALL_END', toolCallId },
    ];
  }
}

/** Writes the stream of a chat completion as the events of a run. */
export function runStream(events: RunEvents): StreamForm {
  return {
    begin: () => dataOf(events.begin()),
    governed: (chunks, decisions) =>
      // The decisions are about the calls in the first chunk. A second chunk only ends the choice.
      dataOf(chunks.flatMap((chunk, nth) => events.chunk(chunk, nth === 0 ? decisions : []))),
    end: () => dataOf(events.end()),
    fail: (error) => dataOf(events.fail(error)),
  };
}

export function dataOf(events: readonly AgentUiEvent[]): string[] {
  return events.map((event) => JSON.stringify(event));
}

function isWaiting(decision: DecisionSummary): decision is WaitingDecision {
  const { verdict, approval_id, approve_url, expires_at } = decision;
  return verdict === 'ESCALATE' && approval_id !== undefined && approve_url !== undefined && expires_at !== undefined;
}

function withheldEvent(decision: DecisionSummary): AgentUiEvent {
  const { tool, tool_call_id, verdict, reason_code, decision_id, receipt_id, approval_id, approve_url } = decision;
  const { nextStep: next_step } = reasonCodes[reason_code];
  const approval = { ...(approval_id ? { approval_id } : {}), ...(approve_url ? { approve_url } : {}) };
  const value = { tool, tool_call_id, verdict, reason_code, next_step, decision_id, receipt_id, ...approval };
  return { type: 'CUSTOM', name: 'countersign.withheld', value };
}

type Called = { id: string | null; name: string; text: string };

/**
 * A member of `tool_calls`, or the legacy call. AG-UI has only functions, so the input text of a custom tool becomes
 * its one argument. It was judged in this form.
 */
function calledBy(call: JsonObject): Called {
  const id = typeof call['id'] === 'string' && call['id'] !== '' ? call['id'] : null;
  const { custom, function: called = call } = call;
  if (isJsonObject(custom))
    return { id, name: String(custom['name']), text: JSON.stringify({ input: custom['input'] }) };
  const { name, arguments: text } = isJsonObject(called) ? called : {};
  return { id, name: String(name), text: String(text) };
}

/** Some servers write the content of a delta as a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!isList(content)) return '';
  return content.map((piece) => (isJsonObject(piece) ? textOf(piece['text'] ?? piece['refusal']) : '')).join('');
}

function usageOf(usage: JsonObject | null, model: unknown): EventOf<'RUN_FINISHED'>['usage'] {
  if (usage === null) return undefined;
  const { prompt_tokens: input, completion_tokens: output } = usage;
  const counted = {
    ...(isCount(input) ? { inputTokens: input } : {}),
    ...(isCount(output) ? { outputTokens: output } : {}),
  };
  return [{ ...(typeof model === 'string' ? { model } : {}), ...counted }];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
