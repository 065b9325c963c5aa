/**
 * What may pass from a model's answer to the caller: members that only show something. An answer is attacker-controlled, and a
 * member nobody here knows may be one that some client acts upon; so it is left out, not passed on. Tool calls are not in these
 * lists: they pass after a decision, or not at all.
 */
const envelopeMembers = [
  'id',
  'object',
  'created',
  'model',
  'usage',
  'system_fingerprint',
  'service_tier',
  'provider',
  'citations',
  'prompt_filter_results',
  'obfuscation',
];
const choiceMembers = [
  'index',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
  'stop_reason',
  'content_filter_results',
];
const messageMembers = [
  'role',
  'content',
  'refusal',
  'annotations',
  'audio',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
];
const passiveParts = new Set(['text', 'output_text', 'refusal']);

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function passiveEnvelope(answer: JsonObject): JsonObject {
  return pick(answer, envelopeMembers);
}

export function passiveChoice(choice: JsonObject): JsonObject {
  return pick(choice, choiceMembers);
}

/** A message or a delta. Content made of parts keeps those that are text. */
export function passiveMessage(message: JsonObject): JsonObject {
  const passed = pick(message, messageMembers);
  if ('role' in passed) passed['role'] = 'assistant';
  const { content } = passed;
  if (Array.isArray(content)) passed['content'] = content.filter(isPassivePart);
  else if ('content' in passed && typeof content !== 'string') passed['content'] = null;
  return passed;
}

/** Whether a message or a delta tells or asks for anything, whether or not it passes. */
export function isSaying(message: JsonObject): boolean {
  return sayingMembers.some((name) => !isNothing(message[name]));
}

const sayingMembers = [...messageMembers.filter((name) => name !== 'role'), 'tool_calls', 'function_call'];

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function isPassivePart(part: unknown): boolean {
  return isJsonObject(part) && typeof part['type'] === 'string' && passiveParts.has(part['type']);
}

function pick(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]]));
}
