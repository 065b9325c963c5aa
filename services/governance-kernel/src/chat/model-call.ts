import { AppError, ResourceName, type ApprovalId, type PlainJson, type SessionId } from '@countersign/contracts';
import type { ChatCompletionRequest } from '@countersign/contracts/governance-kernel';
import type { Caller, NamedCall } from '../call/governed-call.ts';
import { bodyHash } from './body-hash.ts';

type ModelCallRequest = {
  caller: Caller;
  session: SessionId;
  request: ChatCompletionRequest;
  /** The bytes that will go upstream. */
  body: Buffer;
  approvalGrant: ApprovalId | null;
  /** What the call may cost at most; 0 when no price is known. */
  reservedMinor: number;
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
  reservedMinor,
}: ModelCallRequest): NamedCall {
  return {
    kind: 'model',
    caller,
    session,
    model: modelName(request),
    args: modelArgs(request, body),
    context: {},
    approvalGrant: approvalGrant ?? undefined,
    demand: { spend_minor: reservedMinor },
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
    max_tokens: maxTokens(request),
    tools: toolNames(request),
    message_count: request.messages.length,
    body_bytes: body.byteLength,
    body_hash: bodyHash(body),
  };
}

/** The caller's own ceiling for one answer, or null. */
export function maxTokens(request: ChatCompletionRequest): number | null {
  const given = [request['max_completion_tokens'], request['max_tokens']].find((value) => Number.isSafeInteger(value));
  return typeof given === 'number' && given >= 0 ? given : null;
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
