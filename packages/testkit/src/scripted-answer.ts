import { createHash } from 'node:crypto';

type ScriptedToolCall = { name: string; arguments: string };

/** The model's answer to one request. */
export type ScriptedAnswer = { text?: string; toolCalls?: ScriptedToolCall[] };

type ChatMessage = { role: string; content?: unknown; tool_calls?: unknown[] };
export type ScriptedRequest = {
  model: string;
  messages: ChatMessage[];
  stream?: boolean | null;
  n?: number | null;
  stream_options?: { include_usage?: boolean } | null;
};

export const scriptedModelName = 'countersign-scripted-model';

/** A fixed time, so that equal requests have equal answers. */
const createdAt = 1_700_000_000;
const bytesPerToken = 4;

/**
 * The directives that a line of the last user message can contain; docs/how-to/try-without-a-model.md shows their use.
 */
export const directives = {
  'call:<tool> <arguments>': /^\s*call:([A-Za-z0-9_.-]{1,128})[ \t]*(.*)$/gm,
  then: /^\s*then\s*$/m,
} as const;

/**
 * The default script. Lines `call:` become tool calls. A line `then` begins the next step, which follows the tool
 * results of the previous one. When no step is left, the answer is text.
 */
export function followDirectives({ messages }: ScriptedRequest): ScriptedAnswer {
  const lastUser = messages.findLastIndex((message) => message.role === 'user');
  const since = messages.slice(lastUser + 1);
  const stepsDone = since.filter((message) => (message.tool_calls ?? []).length > 0).length;
  const step = stepsOf(textOf(messages[lastUser]))[stepsDone] ?? [];
  if (step.length > 0 && since.at(-1)?.role !== 'assistant') return { toolCalls: step };
  return {
    text: spoken(
      textOf(messages[lastUser]),
      since.filter((message) => message.role === 'tool'),
    ),
  };
}

function spoken(question: string, results: ChatMessage[]): string {
  if (results.length === 0) return `${scriptedModelName} heard: ${question}`;
  const lines = results.map((result, index) => `${index + 1}. ${textOf(result).slice(0, 400)}`);
  return `${scriptedModelName} received ${results.length} tool result(s):\n${lines.join('\n')}`;
}

function stepsOf(text: string): ScriptedToolCall[][] {
  return text
    .split(directives.then)
    .map(callsOf)
    .filter((calls) => calls.length > 0);
}

function callsOf(text: string): ScriptedToolCall[] {
  const calls = text.matchAll(directives['call:<tool> <arguments>']);
  return [...calls].map(([, name = '', input = '']) => ({ name, arguments: input.trim() || '{}' }));
}

function textOf(message: ChatMessage | undefined): string {
  const content = message?.content;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((piece: unknown) => (isTextPart(piece) ? piece.text : '')).join('');
}

function isTextPart(piece: unknown): piece is { text: string } {
  return typeof piece === 'object' && piece !== null && 'text' in piece && typeof piece.text === 'string';
}

/** Members of each chunk and of the whole answer. Equal bodies give equal ids. */
export function envelopeOf(request: ScriptedRequest, object: string) {
  const digest = createHash('sha256').update(JSON.stringify(request)).digest('hex');
  return {
    id: `chatcmpl-${digest.slice(0, 24)}`,
    object,
    created: createdAt,
    model: request.model,
    system_fingerprint: scriptedModelName,
  };
}

export function usageOf(request: ScriptedRequest, answer: ScriptedAnswer) {
  const prompt = tokens(JSON.stringify(request.messages));
  const completion = tokens(`${answer.text ?? ''}${JSON.stringify(answer.toolCalls ?? [])}`) * (request.n ?? 1);
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function tokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

export function toolCallId(envelopeId: string, choice: number, index: number): string {
  return `call_${envelopeId.slice(-12)}_${choice}_${index}`;
}
