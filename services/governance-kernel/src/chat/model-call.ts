import { AppError, ResourceName, type ApprovalId, type PlainJson, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import type { Caller, NamedCall } from '../call/governed-call.ts';
import { bodyHash } from './body-hash.ts';

type ModelCallRequest = {
  caller: Caller;
  session: SessionId;
  request: ChatCompletionRequest;
  /** The bytes that will go upstream. */
  body: Buffer;
  approvalGrant: ApprovalId | null;
  /** What the call may cost at most; null when nobody knows its price. */
  worstCaseMicros: bigint | null;
  idempotency: NamedCall['idempotency'];
};

/** A policy judges by names; a list beyond this says no more to it. The hash of the body binds all of them anyway. */
const toolNamesMax = 128;

/** The governed call of the model itself: what a policy can judge, and the hash that binds it to this very body. */
export function modelCall({
  caller,
  session,
  request,
  body,
  approvalGrant,
  worstCaseMicros,
  idempotency,
}: ModelCallRequest): NamedCall {
  return {
    kind: 'model',
    caller,
    session,
    model: modelName(request),
    args: modelArgs(request, body),
    context: {},
    approvalGrant: approvalGrant ?? undefined,
    demand: { spend_micros: worstCaseMicros, egress_bytes: body.byteLength },
    idempotency,
  };
}

function modelName({ model }: ChatCompletionRequest): string {
  const name = ResourceName.safeParse(model);
  if (!name.success) throw new AppError('INVALID_REQUEST', 'model must be a printable name', { param: 'model' });
  return name.data;
}

function modelArgs(request: ChatCompletionRequest, body: Buffer): Record<string, PlainJson> {
  return {
    model: request.model,
    stream: request.stream === true,
    n: request.n ?? 1,
    max_tokens: outputTokensAsked(request),
    tools: toolNames(request),
    message_count: request.messages.length,
    body_bytes: body.byteLength,
    body_hash: bodyHash(body),
  };
}

/** What OpenAI and those who follow it have called the ceiling of one answer. */
const ceilings = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];
const Ceiling = z.int().min(0).max(1_000_000_000);

/**
 * The caller's own ceiling for one answer, or null. Of several the largest counts: which one the model keeps, nobody here knows.
 * Throws INVALID_REQUEST for one that bounds nothing.
 */
export function outputTokensAsked(request: ChatCompletionRequest): number | null {
  const given = ceilings.filter((name) => (request[name] ?? null) !== null).map((name) => readCeiling(request, name));
  return given.length === 0 ? null : Math.max(...given);
}

const TextPart = z.looseObject({ type: z.enum(['text', 'refusal']) });
const TextContent = z.union([z.string(), z.array(TextPart)]).nullish();

/** Do the messages hold nothing but text? */
export function holdsTextAlone({ messages }: ChatCompletionRequest): boolean {
  return messages.every(({ content }) => TextContent.safeParse(content).success);
}

function readCeiling(request: ChatCompletionRequest, name: string): number {
  const ceiling = Ceiling.safeParse(request[name]);
  if (!ceiling.success) throw new AppError('INVALID_REQUEST', `${name} must be a whole number`, { param: name });
  return ceiling.data;
}

function toolNames(request: ChatCompletionRequest): string[] {
  const functions: unknown = request['functions'];
  const legacy = Array.isArray(functions) ? functions.map(nameOf) : [];
  const named = (request.tools ?? []).map((tool) => tool.function?.name ?? nameOf(tool['custom']) ?? tool.type);
  return [...named, ...legacy].filter((name) => name !== null).slice(0, toolNamesMax);
}

function nameOf(value: unknown): string | null {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
    ? value.name
    : null;
}
