import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ControlVersion, DecisionId, Instant, PrincipalId, storableText, TenantId, ToolName } from '../scalars.ts';
import { outsideNames } from '../unseen-characters.ts';

/**
 * The scope of a fence: `system`, `org:<id>` for all tenants of an organisation, `tenant:<id>`,
 * `agent:<tenant>/<principal>`, `tool:<tenant>/<name>` (tenant `*`: the tool of every tenant), `server:<id>` for all
 * tools of an MCP server, or `server:<tenant>/<id>` for one tenant's calls of them. No tenant holds a `/`, so each
 * splits in one way only.
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
 * `freeze` and `quarantine` stop every call in the scope, `throttle` lets `call_limit` calls through in each window, `open` lifts what
 * stood. A lifted fence keeps its epoch, so an older command never undoes a newer one.
 */
export const FenceKind = z.enum(['freeze', 'quarantine', 'throttle', 'open']);

const FenceTerms = {
  kind: FenceKind,
  /** The epoch of the scope at its source; it only rises. */
  epoch: ControlVersion,
  /** Shown to the callers that are stopped. */
  reason: storableText({ min: 1, max: 500 }),
  /** Required for a throttle, and allowed for nothing else. */
  call_limit: z.int().min(0).max(1_000_000_000).nullable().default(null),
  window_seconds: z.int().min(1).max(86_400).nullable().default(null),
  /** From then on the fence is open by itself; `null` until it is lifted. A new command whose end has passed is refused: `END_PASSED`. */
  expires_at: Instant.nullable().default(null),
  /** Who gave the command, as its source knows. */
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

/** A call that was sent before the fence took effect, or is within a throttle, and whose outcome is not sealed yet. */
export const CallInFlight = z.strictObject({
  decision_id: DecisionId,
  tenant_id: TenantId,
  principal_id: PrincipalId,
  tool: ToolName.nullable(),
  issued_at: Instant,
  /** The time by which its outcome is sealed, as uncertain if nothing else is known. */
  deadline_at: Instant,
});
export type CallInFlight = z.infer<typeof CallInFlight>;

/** The most calls in flight that one answer shows. */
export const callsInFlightMax = 200;

/** Members that a kind of fence needs, and no other has. */
function throttled<Command extends z.ZodType<Pick<Fence, 'kind' | 'call_limit' | 'window_seconds'>>>(command: Command) {
  return command
    .refine(({ kind, call_limit: limit }) => (kind === 'throttle') === (limit !== null), {
      path: ['call_limit'],
      message: 'belongs to a throttle, and a throttle needs it',
    })
    .refine(({ kind, window_seconds: window }) => (kind === 'throttle') === (window !== null), {
      path: ['window_seconds'],
      message: 'belongs to a throttle, and a throttle needs it',
    });
}

const FenceCommand = throttled(z.strictObject(FenceTerms));
/** The same, told by a message. */
export const ScopedFenceCommand = throttled(z.strictObject({ scope: FenceScope, ...FenceTerms }));

const ScopeParams = z.strictObject({ scope: FenceScope });

export const putFence = defineRoute({
  operation: 'put-fence',
  summary:
    'Freeze, quarantine, throttle or open a scope, sealed. Every kernel sees it at its next commit, and no call is sent later than a ' +
    'second after `effective_at`. Its epoch only rises; the same epoch again confirms it.',
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
  summary: 'A fence, and the calls in its scope that were sent and are not settled yet, oldest first.',
  method: 'GET',
  path: '/internal/fences/{scope}',
  auth: 'service_internal',
  params: ScopeParams,
  reply: Fence.extend({
    in_flight: z.array(CallInFlight).max(callsInFlightMax),
    /** There are more than are shown, or more open calls than were looked through. */
    more_in_flight: z.boolean(),
  }),
  errors: ['NOT_FOUND'],
});

export const listFences = defineRoute({
  operation: 'list-fences',
  summary: 'Every fence that was ever set, open ones included, by scope.',
  method: 'GET',
  path: '/internal/fences',
  auth: 'service_internal',
  query: z.strictObject(PageQuery),
  reply: page(Fence),
});
