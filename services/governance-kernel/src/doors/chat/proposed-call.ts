import { argumentsDepthMax, ToolName, type PlainJson } from '@countersign/contracts';
import { CryptoError, parseStrictJson } from '@countersign/crypto';
import { isJsonObject, type JsonObject } from './passive-members.ts';

/** One action that a model's answer requests, in any form of a call. */
export type ProposedCall = {
  /** `id` of the tool call. `null` in the legacy form. */
  id: string | null;
  name: string;
  /** `null` when the arguments are not a JSON object, or the action is unknown. Such a call is denied. */
  args: Record<string, PlainJson> | null;
  /** The reason why `args` is `null`, as a sentence. */
  argumentsFault?: string | undefined;
  argumentsText: string;
  /** The caller's view of an allowed call, with only the judged members. */
  released: JsonObject;
};

/** The limit for the arguments of all calls of one answer. Larger arguments are documents and belong in a store. */
export const argumentsBytesMax = 1_048_576;
/** The most values in one call, which equals the limit of a body that calls the tool directly. */
const argumentValuesMax = 10_000;

/** The name that replaces an invalid name in the receipt. */
const unnamed = 'unnamed';

/** A member of `tool_calls`. Anything that is neither a function nor a custom call becomes a call that is denied. */
export function proposedToolCall(toolCall: unknown): ProposedCall {
  if (!isJsonObject(toolCall)) return unknownCall(null, unnamed);
  const id = typeof toolCall['id'] === 'string' ? toolCall['id'] : null;
  const type = toolCall['type'] ?? 'function';
  if (type === 'function' && isJsonObject(toolCall['function']))
    return functionCall(id, toolCall['function'], (called) => ({ id, type, function: called }));
  if (type === 'custom' && isJsonObject(toolCall['custom'])) return customCall(id, toolCall['custom']);
  return unknownCall(id, typeof type === 'string' ? type : unnamed);
}

/** The call in the legacy member `function_call`. */
export function proposedFunctionCall(called: unknown): ProposedCall {
  return isJsonObject(called) ? functionCall(null, called, (released) => released) : unknownCall(null, unnamed);
}

function functionCall(
  id: string | null,
  called: JsonObject,
  release: (called: JsonObject) => JsonObject,
): ProposedCall {
  const { name, arguments: text } = called;
  const toolName = ToolName.safeParse(name);
  if (!toolName.success || typeof text !== 'string') return unknownCall(id, unnamed);
  return {
    id,
    name: toolName.data,
    ...parseArguments(text),
    argumentsText: text,
    released: release({ name: toolName.data, arguments: text }),
  };
}

function customCall(id: string | null, called: JsonObject): ProposedCall {
  const { name, input } = called;
  const toolName = ToolName.safeParse(name);
  if (!toolName.success || typeof input !== 'string') return unknownCall(id, unnamed);
  const released = { id, type: 'custom', custom: { name: toolName.data, input } };
  return { id, name: toolName.data, args: { input }, argumentsText: input, released };
}

function unknownCall(id: string | null, name: string): ProposedCall {
  const safe = ToolName.safeParse(name);
  return { id, name: safe.success ? safe.data : unnamed, args: null, argumentsText: '', released: {} };
}

/**
 * Parses strictly, so that every reader of the text finds the arguments that the policy judged. Models write an empty
 * text for no arguments.
 */
function parseArguments(text: string): Pick<ProposedCall, 'args' | 'argumentsFault'> {
  if (text.trim() === '') return { args: {} };
  try {
    const value = parseStrictJson(text, {
      depthMax: argumentsDepthMax,
      bytesMax: argumentsBytesMax,
      valuesMax: argumentValuesMax,
    });
    return { args: isJsonObject(value) ? value : null }; // strict JSON is plain
  } catch (error) {
    return { args: null, argumentsFault: faultOf(error) };
  }
}

/** A fault may contain a path of member names, which the model chose, so it is cut. */
const faultLengthMax = 200;

function faultOf(error: unknown): string | undefined {
  if (!(error instanceof CryptoError) || error.code === 'MALFORMED_JSON') return undefined;
  return `The arguments cannot be read exactly: ${error.message.slice(0, faultLengthMax)}.`;
}
