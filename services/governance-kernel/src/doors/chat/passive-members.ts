/**
 * The members of a model's answer that may reach the caller: those that only display something, at every level. An
 * answer is attacker-controlled, and a client may act on a member that is unknown here. Unknown members, and known
 * ones in another form, are therefore removed. Tool calls are not in these lists, since they pass only after a
 * decision.
 */
import {
  figures,
  flag,
  listOf,
  members,
  named,
  number,
  someOf,
  text,
  textOrNumber,
  type JsonObject,
  type Keep,
} from './passive-shapes.ts';

export { isJsonObject, type JsonObject } from './passive-shapes.ts';

/** Azure's content filter results by category, with the blocklists that matched and the source of cited code. */
const filterResults = named(
  members({
    ...{ filtered: flag, detected: flag, severity: text },
    error: members({ code: textOrNumber, message: text }),
    citation: members({ URL: text, license: text }),
    details: listOf(members({ filtered: flag, id: text })),
  }),
);

const token = { token: text, logprob: number, bytes: listOf(number) };
const tokens = listOf(members({ ...token, top_logprobs: listOf(members(token)) }));

/** A cited source, and the place in the answer's text that cites it. */
const citationOf = members({
  ...{ url: text, title: text, content: text, file_id: text, filename: text },
  ...{ start_index: number, end_index: number, index: number },
});
const annotations = listOf(members({ type: text, url_citation: citationOf, file_citation: citationOf }));

const deps = listOf(
  someOf('type', {
    text: members({ type: text, text, annotations }),
    output_text: members({ type: text, text, annotations }),
    refusal: members({ type: text, refusal: text }),
  }),
);

const envelope = members({
  ...{ id: text, object: text, created: number, model: text },
  // Counters and prices, which each server names in its own way.
  usage: figures,
  ...{ system_fingerprint: text, service_tier: text, provider: text, obfuscation: text },
  citations: listOf(text),
  prompt_filter_results: listOf(members({ prompt_index: number, content_filter_results: filterResults })),
});

const choice = members({
  index: number,
  logprobs: members({ content: tokens, refusal: tokens }),
  ...{ finish_reason: text, native_finish_reason: text, stop_reason: textOrNumber },
  content_filter_results: filterResults,
});

const messageMembers: Record<string, Keep> = {
  role: () => 'assistant',
  content: (value) => (Array.isArray(value) ? deps(value) : (text(value) ?? null)),
  refusal: text,
  annotations,
  audio: members({ id: text, data: text, transcript: text, expires_at: number }),
  reasoning: text,
  reasoning_content: text,
  reasoning_details: listOf(
    members({
      ...{ type: text, id: text, format: text, index: number },
      ...{ text, summary: text, data: text, signature: text },
    }),
  ),
};
const message = members(messageMembers);

export function passiveEnvelope(answer: JsonObject): JsonObject {
  return shown(envelope, answer);
}

export function passiveChoice(value: JsonObject): JsonObject {
  return shown(choice, value);
}

/** A message or a delta. Only parts of its content with text or a refusal are kept. */
export function passiveMessage(value: JsonObject): JsonObject {
  return shown(message, value);
}

/** Whether a message or a delta has any content or call, whether or not the caller may see it. */
export function isSaying(statement: JsonObject): boolean {
  return sayingMembers.some((name) => !isNothing(statement[name]));
}

const sayingMembers = [
  ...Object.keys(messageMembers).filter((name) => name !== 'role'),
  ...['tool_calls', 'function_call'],
];

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function shown(keep: Keep, value: JsonObject): JsonObject {
  return keep(value) as JsonObject; // `members` returns an object for an object
}
