import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ToolName } from '../scalars.ts';

/** A chat body carries whole conversations, with images. The worst text of this size is read in less than 50 ms. */
export const chatBodyBytesMax = 6_291_456;

/** More calls in one answer are no plan but an attack on the ledger. OpenAI's own ceiling for tools is 128. */
export const callsPerAnswerMax = 128;

/** OpenAI's own ceiling. A policy is told the name of each tool, so more are refused and never cut. */
const toolsPerRequestMax = 128;

const NamedTool = z.looseObject({ name: ToolName.max(128) });

/**
 * A function or custom tool runs at its caller and has one name that can be read. Any other type runs at the model's provider and is named
 * by its type.
 */
const ChatTool = z
  .looseObject({ type: ToolName.max(64), function: NamedTool.optional(), custom: NamedTool.optional() })
  .refine((tool) => tool.type !== 'function' || (tool.function !== undefined && tool.custom === undefined), {
    path: ['function'],
    message: 'must name the function, and nothing else may',
  })
  .refine((tool) => tool.type !== 'custom' || (tool.custom !== undefined && tool.function === undefined), {
    path: ['custom'],
    message: 'must name the custom tool, and nothing else may',
  });

/**
 * OpenAI's chat completion request. Loose on purpose: the standard grows. It is forwarded unchanged, and rules can read
 * members that this server does not know as facts.
 */
export const ChatCompletionRequest = z
  .looseObject({
    model: z.string().min(1).max(256),
    messages: z
      .array(z.looseObject({ role: z.string() }))
      .min(1)
      .max(10_000),
    tools: z.array(ChatTool).nullish(),
    functions: z.array(NamedTool).nullish(),
    stream: z.boolean().nullish(),
    n: z.int().min(1).max(128).nullish(),
    user: z.string().max(256).optional(),
    store: z.boolean().nullish(),
    service_tier: ToolName.max(64).nullish(),
  })
  .refine(({ tools, functions }) => (tools?.length ?? 0) + (functions?.length ?? 0) <= toolsPerRequestMax, {
    path: ['tools'],
    message: `may be at most ${toolsPerRequestMax}, functions included`,
  });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/** Each answer, refusals included, carries the receipt of its decision in X-Gov-Receipt: base64url of a StoredReceipt's JSON. */
export const createChatCompletion = defineRoute({
  operation: 'create-chat-completion',
  summary: 'OpenAI-compatible boundary: the model call and each tool call in its answer are decided.',
  method: 'POST',
  path: '/v1/chat/completions',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  idempotency: 'key',
  governed: true,
  door: 'chat',
  assertedBy: ['agent'],
  bodyBytesMax: chatBodyBytesMax,
  media: 'openai',
  body: ChatCompletionRequest,
  reply: z.looseObject({}),
  errors: [
    'POLICY_DENIED',
    'APPROVAL_NEEDED',
    'IDEMPOTENCY_KEY_REUSED',
    'IDEMPOTENCY_IN_FLIGHT',
    'OUTCOME_UNCERTAIN',
    'RECEIPT_STORE_UNAVAILABLE',
    'UPSTREAM_NOT_CONFIGURED',
    'UPSTREAM_KEY_REFUSED',
    'UPSTREAM_FAILED',
  ],
});

const Model = z.strictObject({ id: z.string(), object: z.literal('model'), created: z.int(), owned_by: z.string() });

export const listModels = defineRoute({
  operation: 'list-models',
  summary: 'The models of the upstream, in OpenAI form. Listing decides nothing; using one does.',
  method: 'GET',
  path: '/v1/models',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  door: 'chat',
  assertedBy: ['agent'],
  reply: z.strictObject({ object: z.literal('list'), data: z.array(Model) }),
  errors: ['UPSTREAM_NOT_CONFIGURED', 'UPSTREAM_FAILED'],
});

export const getModel = defineRoute({
  operation: 'get-model',
  summary: 'One model of the upstream, in OpenAI form.',
  method: 'GET',
  path: '/v1/models/{model}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  door: 'chat',
  assertedBy: ['agent'],
  params: z.strictObject({ model: z.string().min(1).max(256) }),
  reply: Model,
  errors: ['NOT_FOUND', 'UPSTREAM_NOT_CONFIGURED', 'UPSTREAM_FAILED'],
});
