import { AppError, ToolName } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { runsAtCaller } from './offered-tools.ts';

type Kind = keyof typeof names;

/**
 * The effects of the members of a chat completion, by OpenAI's reference of 2026-08-21 (API 2.3.0; SDK 6.49.0). Names
 * are compared exactly: another case or another Unicode form is another member.
 */
const names = {
  /** Members that are parsed here as facts of the call. */
  judged: [
    ...['model', 'messages', 'tools', 'functions', 'stream', 'n', 'user', 'store', 'service_tier', 'modalities'],
    ...['max_tokens', 'max_completion_tokens', 'max_output_tokens', 'tool_choice'],
  ],
  /**
   * Members that only shape the answer. The answer is judged, and its cost stays within the counted limits. With some
   * models, writing to the prompt cache costs more than reading a prompt. The configured input price of such a model
   * must be the higher of the two.
   */
  passive: [
    ...['temperature', 'top_p', 'seed', 'stop', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'logprobs'],
    ...['top_logprobs', 'response_format', 'reasoning_effort', 'verbosity', 'stream_options', 'parallel_tool_calls'],
    ...['function_call', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_options'],
    ...['prompt_cache_retention'],
    // Not OpenAI's, but supported alike by vLLM, llama.cpp, Ollama and OpenRouter.
    ...['top_k', 'min_p', 'repetition_penalty'],
  ],
  /** Members whose use has a separate price. */
  pricedApart: ['audio', 'prediction', 'moderation'],
  /** Members whose use runs at the provider: OpenAI's search, OpenRouter's plugins, Azure's data. */
  hosted: ['web_search_options', 'plugins', 'data_sources'],
} as const;

const kinds = new Map<string, Kind>(
  Object.entries(names).flatMap(([kind, listed]) => listed.map((name): [string, Kind] => [name, kind as Kind])), // its own keys
);

type Members = { hosted: string[]; pricedApart: string[]; unknown: string[] };

/** The most unknown members of a request. More would only burden the readers of its record. */
const unknownMax = 64;

/**
 * The members whose names rules can read. A known member with `null` requests nothing. Throws INVALID_REQUEST for
 * names that cannot be represented.
 */
export function requestMembers(request: ChatCompletionRequest): Members {
  const values = Object.keys(request).sort();
  const set = values.filter((name) => request[name] !== null && request[name] !== undefined);
  const ofKind = (kind: Kind) => set.filter((name) => kinds.get(name) === kind);
  const unknown = [...values.filter((name) => !kinds.has(name)), ...unknownOfTools(request)].sort();
  refuseUnreadable(unknown);
  return { hosted: ofKind('hosted'), pricedApart: ofKind('pricedApart'), unknown };
}

/** `cache_control` is Anthropic's member for the prompt cache. */
const toolMembers: ReadonlySet<string> = new Set(['type', 'function', 'custom', 'cache_control']);

/**
 * Unknown members of functions and custom tools. Some request translators treat a function with `googleSearch` as a
 * search at the provider. The types of other tools are already facts.
 */
function unknownOfTools({ tools }: ChatCompletionRequest): string[] {
  const named = (tools ?? []).filter(runsAtCaller).flatMap((tool) => Object.keys(tool));
  return [...new Set(named.filter((name) => !toolMembers.has(name)).map((name) => `tools.${name}`))];
}

function refuseUnreadable(unknown: readonly string[]): void {
  if (unknown.length > unknownMax)
    throw new AppError(
      'INVALID_REQUEST',
      `The request has more than ${unknownMax} members that this server does not know. Remove them`,
    );
  const unreadable = unknown.find((name) => !ToolName.safeParse(name).success);
  if (unreadable !== undefined)
    throw new AppError(
      'INVALID_REQUEST',
      'The request has a member whose name contains invalid characters. Rename it',
      {
        param: JSON.stringify(unreadable).slice(0, 128),
      },
    );
}
