import { AppError, ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { runsAtCaller } from './offered-tools.ts';

type Kind = keyof typeof names;

/**
 * The effects of the members of a chat completion, by OpenAI's reference of 2026-08-21 (API 2.3.0; SDK 6.49.0). Names
 * are compared as they are written: another case or another Unicode form is another member.
 */
const names = {
  /** Read here: they are facts of the call by themselves. */
  judged: [
    ...['model', 'messages', 'tools', 'functions', 'stream', 'n', 'user', 'store', 'service_tier', 'modalities'],
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'tool_choice'],
  ],
  /**
   * They shape the answer, which is judged, within ceilings that are counted. Writing to the prompt cache is dearer than reading a prompt:
   * that is the input price of a model which has one.
   */
  passive: [
    ...['temperature', 'top_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
    ...['top_logprobs', 'response_format', 'reasoning_effort', 'verbosity', 'stream_options', 'parallel_tool_calls'],
    ...['function_call', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options'],
    ...['prompt_cache_retention'],
    // Not OpenAI's, but understood alike by vLLM, llama.cpp, Ollama and OpenRouter.
    ...['top_k', 'min_p', 'repetition_penalty'],
  ],
  /** Their use has a price of its own. */
  pricedApart: ['audio', 'prediction', 'moderation'],
  /** Their use runs at the provider: OpenAI's search, the plugins of OpenRouter, the data of Azure. */
  hosted: ['web_search_options', 'plugins', 'data_sources'],
} as const;

const kinds = new Map<string, Kind>(
  Object.entries(names).flatMap(([kind, listed]) => listed.map((name): [string, Kind] => [name, kind as Kind])), // its own keys
);

type Members = { hosted: string[]; pricedApart: string[]; unknown: string[] };

/** More are no request but an attack on the readers of its record. */
const unknownMax = 64;

/** The members that rules are told of by name. A known one that is null asks for nothing. Throws INVALID_REQUEST for names that cannot be told. */
export function requestMembers(request: ChatCompletionRequest): Members {
  const given = Object.keys(request).sort();
  const asked = given.filter((name) => request[name] !== null && request[name] !== undefined);
  const ofKind = (kind: Kind) => asked.filter((name) => kinds.get(name) === kind);
  const unknown = [...given.filter((name) => !kinds.has(name)), ...unknownOfTools(request)].sort();
  refuseUnreadable(unknown);
  return { hosted: ofKind('hosted'), pricedApart: ofKind('pricedApart'), unknown };
}

/** `cache_control`: the prompt cache, as Anthropic writes it. */
const toolMembers: ReadonlySet<string> = new Set(['type', 'function', 'custom', 'cache_control']);

/** A function with `googleSearch` beside it is a search at the provider for some who translate requests. Other types are facts already. */
function unknownOfTools({ tools }: ChatCompletionRequest): string[] {
  const named = (tools ?? []).filter(runsAtCaller).flatMap((tool) => Object.keys(tool));
  return [...new Set(named.filter((name) => !toolMembers.has(name)).map((name) => `tools.${name}`))];
}

function refuseUnreadable(unknown: readonly string[]): void {
  if (unknown.length > unknownMax)
    throw new AppError('INVALID_REQUEST', `More than ${unknownMax} members that this server does not know`);
  const unreadable = unknown.find((name) => !ToolName.safeParse(name).success);
  if (unreadable !== undefined)
    throw new AppError('INVALID_REQUEST', 'A member has a name that cannot be read', {
      param: JSON.stringify(unreadable).slice(0, 128),
    });
}
