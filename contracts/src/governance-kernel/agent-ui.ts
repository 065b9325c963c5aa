import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, Digest, ToolName } from '../scalars.ts';
import { chatBodyBytesMax } from './chat.ts';

/** An id that an AG-UI client chose: any text. */
const ForeignId = z.string().min(1).max(256);

/**
 * A withheld call with its arguments as the model wrote them. A client that sends it back requests the call again, and
 * the kernel decides it again.
 */
export const WithheldCall = z.looseObject({
  approval_id: ApprovalId,
  tool: ToolName.max(128),
  tool_call_id: ForeignId,
  arguments: z.string(),
});
export type WithheldCall = z.infer<typeof WithheldCall>;

/** An open record, as in AG-UI. `countersign` is our own key. */
const Metadata = z.looseObject({
  countersign: z.looseObject({ withheld: z.array(WithheldCall).max(128).optional() }).optional(),
});

const Source = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('data'), value: z.string(), mimeType: z.string() }),
  z.looseObject({ type: z.literal('url'), value: z.string(), mimeType: z.string().optional() }),
  z.looseObject({ type: z.literal('file'), value: z.string(), mimeType: z.string().optional() }),
]);
const ContentPart = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.enum(['image', 'audio', 'video', 'document']), source: Source }),
]);
const Content = z.union([z.string(), z.array(ContentPart)]);

const Named = { id: z.string(), name: z.string().optional(), metadata: Metadata.optional() };
const AgentUiToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const AgentUiMessage = z.discriminatedUnion('role', [
  z.looseObject({ ...Named, role: z.enum(['developer', 'system']), content: z.string() }),
  z.looseObject({ ...Named, role: z.literal('user'), content: Content }),
  z.looseObject({
    ...Named,
    role: z.literal('assistant'),
    content: z.string().optional(),
    toolCalls: z.array(AgentUiToolCall).optional(),
  }),
  z.looseObject({
    ...Named,
    role: z.literal('tool'),
    content: Content,
    toolCallId: z.string(),
    error: z.string().optional(),
  }),
  // Content for the user of the page. The model does not get it.
  z.looseObject({ ...Named, role: z.enum(['activity', 'reasoning']) }),
]);

/**
 * The request of AG-UI 1.0. Unknown members are ignored, as the protocol demands. A malformed known member is rejected
 * before the first event.
 */
export const RunAgentInput = z.looseObject({
  threadId: ForeignId,
  runId: ForeignId,
  messages: z.array(AgentUiMessage).max(10_000),
  tools: z
    .array(
      z.looseObject({ name: ToolName.max(128), description: z.string(), parameters: z.looseObject({}).optional() }),
    )
    .max(128)
    .default([]),
  context: z
    .array(z.looseObject({ description: z.string(), value: z.string() }))
    .max(1_000)
    .default([]),
  forwardedProps: z.unknown().optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: ForeignId,
        status: z.enum(['resolved', 'cancelled']),
        metadata: Metadata.optional(),
      }),
    )
    .max(128)
    .default([]),
});
export type RunAgentInput = z.infer<typeof RunAgentInput>;

const OurMetadata = z.strictObject({ countersign: z.looseObject({}) }).optional();
const Interrupt = z.strictObject({
  id: ApprovalId,
  reason: z.literal('approval'),
  message: z.string(),
  expiresAt: z.string(),
  metadata: z.strictObject({
    countersign: z.strictObject({ approve_url: z.string(), withheld: z.array(WithheldCall) }),
  }),
});
const TokenUsage = z.strictObject({
  model: z.string().optional(),
  inputTokens: z.int().optional(),
  outputTokens: z.int().optional(),
});

/** The events of a run: one JSON object in the data of each Server-Sent Event. */
export const AgentUiEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('RUN_STARTED'),
    threadId: z.string(),
    runId: z.string(),
    protocolVersion: z.literal('1.0'),
  }),
  z.strictObject({ type: z.literal('TEXT_MESSAGE_START'), messageId: z.string(), role: z.literal('assistant') }),
  z.strictObject({ type: z.literal('TEXT_MESSAGE_CONTENT'), messageId: z.string(), delta: z.string() }),
  z.strictObject({ type: z.literal('TEXT_MESSAGE_END'), messageId: z.string(), metadata: OurMetadata }),
  z.strictObject({
    type: z.literal('TOOL_CALL_START'),
    toolCallId: z.string(),
    toolCallName: z.string(),
    parentMessageId: z.string(),
    metadata: OurMetadata,
  }),
  z.strictObject({ type: z.literal('TOOL_CALL_ARGS'), toolCallId: z.string(), delta: z.string() }),
  z.strictObject({ type: z.literal('TOOL_CALL_END'), toolCallId: z.string() }),
  /** A withheld call with the reason and the next step. */
  z.strictObject({
    type: z.literal('CUSTOM'),
    name: z.literal('countersign.withheld'),
    value: z.strictObject({
      tool: z.string(),
      tool_call_id: z.string().nullable(),
      verdict: z.string(),
      reason_code: z.string(),
      next_step: z.string(),
      decision_id: z.string(),
      receipt_id: z.string(),
      approval_id: ApprovalId.optional(),
      approve_url: z.string().optional(),
    }),
  }),
  z.strictObject({
    type: z.literal('RUN_FINISHED'),
    threadId: z.string(),
    runId: z.string(),
    outcome: z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal('success'), pendingToolCallIds: z.array(z.string()).optional() }),
      z.strictObject({ type: z.literal('interrupt'), interrupts: z.array(Interrupt).min(1) }),
    ]),
    usage: z.array(TokenUsage).optional(),
  }),
  z.strictObject({ type: z.literal('RUN_ERROR'), message: z.string(), code: z.string(), metadata: OurMetadata }),
]);
export type AgentUiEvent = z.infer<typeof AgentUiEvent>;

const AgentUiInfo = z.strictObject({
  runtime: z.literal('countersign'),
  protocol: z.literal('ag-ui'),
  transport: z.literal('sse'),
  /** The version of AG-UI. */
  version: z.literal('1.0'),
  /** The model of a run that names none. `null` when each run must name its own. */
  model: z.string().nullable(),
  /** The active policy of the caller's tenant. `null` when no policy is active. */
  policy: z.strictObject({ policy_hash: Digest, epoch: z.int() }).nullable(),
  /** AgentCapabilities of AG-UI. */
  capabilities: z.strictObject({
    identity: z.strictObject({ name: z.string(), type: z.string(), version: z.string() }),
    transport: z.strictObject({ streaming: z.boolean(), resumable: z.boolean() }),
    tools: z.strictObject({ supported: z.boolean(), parallelCalls: z.boolean(), clientProvided: z.boolean() }),
    multimodal: z.strictObject({ input: z.strictObject({ image: z.boolean() }) }),
    humanInTheLoop: z.strictObject({ supported: z.boolean(), approvals: z.boolean(), interrupts: z.boolean() }),
  }),
});

const door = {
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  door: 'chat',
  assertedBy: ['agent'],
} as const;

const run = {
  ...door,
  method: 'POST',
  idempotency: { exempt: 'stream' },
  governed: true,
  bodyBytesMax: chatBodyBytesMax,
  media: 'ag-ui',
  body: RunAgentInput,
  reply: AgentUiEvent,
} as const;

const info = { ...door, method: 'GET', reply: AgentUiInfo } as const;

/** The errors before the stream. Later errors are RUN_ERROR. */
const runErrors = [
  'POLICY_DENIED',
  'APPROVAL_NEEDED',
  'RECEIPT_STORE_UNAVAILABLE',
  'UPSTREAM_NOT_CONFIGURED',
  'UPSTREAM_KEY_REFUSED',
  'UPSTREAM_FAILED',
] as const;

export const runAgentUi = defineRoute({
  ...run,
  operation: 'run-agent-ui',
  summary: 'Run AG-UI: decide the model call and each tool call in its answer. Returns a stream of events.',
  path: '/api/v1/agent-ui/run',
  errors: [...runErrors],
});

export const runAgUi = defineRoute({
  ...run,
  operation: 'run-ag-ui',
  summary: 'Alias of `run-agent-ui` at the other AG-UI address.',
  path: '/api/ag-ui/run',
  errors: [...runErrors],
});

export const getAgentUiInfo = defineRoute({
  ...info,
  operation: 'get-agent-ui-info',
  summary: 'Get the version, default model, policy and capabilities for AG-UI clients.',
  path: '/api/v1/agent-ui/info',
});

export const getAgUiInfo = defineRoute({
  ...info,
  operation: 'get-ag-ui-info',
  summary: 'Alias of `get-agent-ui-info` at the other AG-UI address.',
  path: '/api/ag-ui/info',
});
