import { AppError } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { bodyHash } from './body-hash.ts';
import { contentTypes } from './content-types.ts';
import { offeredTools } from './offered-tools.ts';
import { pricedApart } from './priced-apart.ts';
import { requestMembers } from './request-members.ts';

/** The members of a model call that a policy can judge: its `args` (docs/model-calls.md). */
export type ModelFacts = {
  model: string;
  stream: boolean;
  n: number;
  max_tokens: number | null;
  tools: string[];
  hosted_tools: string[];
  unknown_members: string[];
  content_types: string[];
  priced_apart: string[];
  store: boolean | null;
  service_tier: string | null;
  message_count: number;
  body_bytes: number;
  body_hash: string;
};

/**
 * The facts of a request, without its text, and the hash that binds the call to this body. Throws INVALID_REQUEST for
 * values that cannot be represented.
 */
export function modelFacts(request: ChatCompletionRequest, body: Buffer): ModelFacts {
  const tools = offeredTools(request);
  const members = requestMembers(request);
  const content = contentTypes(request);
  const hosted = [...new Set([...tools.hosted, ...members.hosted])].sort();
  return {
    model: request.model,
    stream: request.stream === true,
    n: request.n ?? 1,
    max_tokens: outputTokensAsked(request),
    tools: tools.named,
    hosted_tools: hosted,
    unknown_members: members.unknown,
    content_types: content,
    priced_apart: pricedApart(request, [...hosted, ...members.pricedApart, ...members.unknown], content),
    store: request.store ?? null,
    service_tier: request.service_tier ?? null,
    message_count: request.messages.length,
    body_bytes: body.byteLength,
    body_hash: bodyHash(body),
  };
}

/** The names of the output limit of one answer, at OpenAI and compatible servers. */
const ceilings = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
/** Servers that accept 0 treat it as no limit. */
const Ceiling = z.int().min(1).max(1_000_000_000);

/**
 * The caller's own output limit, or `null`. If there are several, the largest counts, since it is unknown which one
 * the model applies. Throws INVALID_REQUEST for an invalid limit.
 */
function outputTokensAsked(request: ChatCompletionRequest): number | null {
  const input = ceilings.filter((name) => (request[name] ?? null) !== null).map((name) => readCeiling(request, name));
  return input.length === 0 ? null : Math.max(...input);
}

function readCeiling(request: ChatCompletionRequest, name: string): number {
  const ceiling = Ceiling.safeParse(request[name]);
  if (!ceiling.success)
    throw new AppError('INVALID_REQUEST', `${name} must be a whole number from 1 to 1000000000`, { param: name });
  return ceiling.data;
}
