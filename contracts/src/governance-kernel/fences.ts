import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ControlVersion, DecisionId, Instant, PrincipalId, storableText, TenantId, ToolName } from '../scalars.ts';
import { outsideNames } from '../unseen-characters.ts';

/**
 * The scope of a fence: `system`, `org:<id>` for all tenants of an organisation, `tenant:<id>`,
 * `agent:<tenant>/<principal>`, `tool:<tenant>/<name>` (tenant `*`: the tool in all tenants), `server:<id>` for all
 * tools of an MCP server, or `server:<tenant>/<id>` for one tenant's calls of them. Tenant ids contain no `/`, so each
 * scope has one meaning.
 */
const tenant = '[A-Za-z0-9._:-]{1,128}';
const name = `[^${outsideNames}]{1,256}`;
const scopes = `system|org:${tenant}|tenant:${tenant}|agent:${tenant}/${name}|tool:(?:\\*|${tenant})/${name}|server:(?:${tenant}/)?[a-z0-9][a-z0-9_-]{0,62}`;
export const FenceScope = z
  .string()
  .regex(
    new RegExp(`^(?:${scopes})$`, 'u'),
    'must be system, org:<id>, tenant:<id>, agent:<tenant>/<principal>, tool:<tenant or *>/<name>, server:<id> or server:<tenant>/<id>',
  )
  .brand<'FenceScope'>();
export type FenceScope = z.infer<typeof FenceScope>;

/**
 * `freeze` and `quarantine` stop all calls in the scope. `throttle` allows `call_limit` calls in each window. `open`
 * lifts the current fence. A lifted fence keeps its epoch, so an older command never undoes a newer one.
 */
export const FenceKind = z.enum(['freeze', 'quarantine', 'throttle', 'open']);

const FenceTerms = {
  kind: FenceKind,
  /** The epoch of the scope at its source. It only rises. */
  epoch: ControlVersion,
  /** Shown to the callers that are stopped. */
  reason: storableText({ min: 1, max: 500 }),
  /** Required for a throttle, and not allowed for other kinds. */
  call_limit: z.int().min(0).max(1_000_000_000).nullable().default(null),
  window_seconds: z.int().min(1).max(86_400).nullable().default(null),
  /**
   * The end of the fence. `null` when the fence stays until it is lifted. A new command with a past end is rejected
   * with `END_PASSED`.
   */
  expires_at: Instant.nullable().default(null),
  /** The person who gave the command, as named by the source. */
  set_by: PrincipalId,
};

export const Fence = z.strictObject({
  scope: FenceScope,
  ...FenceTerms,
  effective_at: Instant,
  /** For a throttle: calls in the current window. */
  calls_taken: z.int().nullable(),
});
export type Fence = z.infer<typeof Fence>;

/** A call without a sealed outcome. It was sent before the fence took effect, or within the limit of a throttle. */
export const CallInFlight = z.strictObject({
  decision_id: DecisionId,
  tenant_id: TenantId,
  principal_id: PrincipalId,
  tool: ToolName.nullable(),
  issued_at: Instant,
  /** The time by which the outcome of the call is sealed. The outcome is `uncertain` if nothing else is known. */
  deadline_at: Instant,
});
export type CallInFlight = z.infer<typeof CallInFlight>;

/** The most calls in flight that one answer shows. */
export const callsInFlightMax = 200;

/** Checks that exactly the throttles have the members of a throttle. */
function throttled<Command extends z.ZodType<Pick<Fence, 'kind' | 'call_limit' | 'window_seconds'>>>(command: Command) {
  return command
    .refine(({ kind, call_limit: limit }) => (kind === 'throttle') === (limit !== null), {
      path: ['call_limit'],
      message: 'is required for a throttle, and not allowed otherwise',
    })
    .refine(({ kind, window_seconds: window }) => (kind === 'throttle') === (window !== null), {
      path: ['window_seconds'],
      message: 'is required for a throttle, and not allowed otherwise',
    });
}

const FenceCommand = throttled(z.strictObject(FenceTerms));
/** The command of `put-fence` as a message, which names its scope itself. */
export const ScopedFenceCommand = throttled(z.strictObject({ scope: FenceScope, ...FenceTerms }));

const ScopeParams = z.strictObject({ scope: FenceScope });

export const putFence = defineRoute({
  operation: 'put-fence',
  summary:
    'Freeze, quarantine, throttle or open a scope, sealed. No call is sent later than a second after ' +
    '`effective_at`. The epoch only rises. Repeating the current epoch confirms the fence.',
  method: 'PUT',
  path: '/internal/fences/{scope}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: ScopeParams,
  body: FenceCommand,
  reply: Fence,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'END_PASSED', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const getFence = defineRoute({
  operation: 'get-fence',
  summary: 'Get a fence, and the calls in its scope that were sent and are not settled, oldest first.',
  method: 'GET',
  path: '/internal/fences/{scope}',
  auth: 'service_internal',
  params: ScopeParams,
  reply: Fence.extend({
    in_flight: z.array(CallInFlight).max(callsInFlightMax),
    /** `true` when there are more calls than listed, or more open calls than were read. */
    more_in_flight: z.boolean(),
  }),
  errors: ['NOT_FOUND'],
});

export const listFences = defineRoute({
  operation: 'list-fences',
  summary: 'List all fences by scope, including open ones.',
  method: 'GET',
  path: '/internal/fences',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(Fence),
});
