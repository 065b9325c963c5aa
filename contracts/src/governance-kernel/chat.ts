import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ToolName } from '../scalars.ts';

/** A chat body contains whole conversations, with images. The worst text of this size is parsed in less than 50 ms. */
export const chatBodyBytesMax = 6_291_456;

/** More calls in one answer are treated as an attack on the ledger. OpenAI's own limit for tools is 128. */
export const callsPerAnswerMax = 128;

/** The limit of OpenAI. A policy reads the name of each tool, so a longer list is rejected and never truncated. */
const toolsPerRequestMax = 128;

const NamedTool = z.looseObject({ name: ToolName.max(128) });

/**
 * A function or custom tool runs at its caller and has a name. Any other type runs at the model's provider and is named
 * by its type.
 */
const ChatTool = z
  .looseObject({ type: ToolName.max(64), function: NamedTool.optional(), custom: NamedTool.optional() })
  .refine((tool) => tool.type !== 'function' || (tool.function !== undefined && tool.custom === undefined), {
    path: ['function'],
    message: 'must be set for the type function, without custom',
  })
  .refine((tool) => tool.type !== 'custom' || (tool.custom !== undefined && tool.function === undefined), {
    path: ['custom'],
    message: 'must be set for the type custom, without function',
  });

/**
 * OpenAI's chat completion request. Unknown members are accepted, since the standard grows. The request is forwarded
 * unchanged, and rules can read the unknown members as facts.
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
    message: `must have at most ${toolsPerRequestMax} items together with functions`,
  });
export type ChatCompletionRequest = z.infer<typeof ChatCompletionRequest>;

/**
 * Each answer, including refusals, has the receipt of its decision in X-Gov-Receipt: the JSON of a StoredReceipt in
 * base64url.
 */
export const createChatCompletion = defineRoute({
  operation: 'create-chat-completion',
  summary: 'Create an OpenAI-compatible chat completion. The model call and each tool call in its answer are decided.',
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
  summary: 'List the models of the upstream, in OpenAI format. Only the use of a model is decided.',
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
  summary: 'Get a model of the upstream, in OpenAI format.',
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
