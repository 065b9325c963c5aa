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

/** Everything in a request that is more than its words, and the hash that binds the call to this very body. Throws INVALID_REQUEST for what cannot be told. */
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

/** The names of the ceiling of one answer, at OpenAI and compatible servers. */
const ceilings = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
/** Servers that take 0 at all take it for no ceiling. */
const Ceiling = z.int().min(1).max(1_000_000_000);

/**
 * The caller's own ceiling for one answer, or null. If there are several, the largest counts, since it is unknown which
 * one the model keeps. Throws INVALID_REQUEST for one that bounds nothing.
 */
function outputTokensAsked(request: ChatCompletionRequest): number | null {
  const given = ceilings.filter((name) => (request[name] ?? null) !== null).map((name) => readCeiling(request, name));
  return given.length === 0 ? null : Math.max(...given);
}

function readCeiling(request: ChatCompletionRequest, name: string): number {
  const ceiling = Ceiling.safeParse(request[name]);
  if (!ceiling.success)
    throw new AppError('INVALID_REQUEST', `${name} must be a whole number above 0`, { param: name });
  return ceiling.data;
}
