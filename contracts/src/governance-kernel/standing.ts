import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { GateName } from '../reason-codes.ts';
import { CheckpointId, Digest, Instant, TenantId } from '../scalars.ts';
import { Fence } from './fences.ts';
import { StoredReceipt } from './receipt.ts';

const TenantQuery = z.strictObject({ tenant_id: z.string().optional() });

/** The limits of one answer: fences, receipts, and counted rows. */
export const shownFencesMax = 100;
export const shownReceiptsMax = 10;
export const countedMax = 1_000;

/** A count that stops at 1,000. */
const Count = z.int().min(0).max(countedMax);

/** The policy on which decisions of the tenant are based. `missing`, `stale` and `unsigned` deny all calls. */
const PolicyStanding = z.strictObject({
  state: z.enum(['fresh', 'stale', 'unsigned', 'missing']),
  /** `*` for the default bundle of tenants without their own. */
  owner: z.string().nullable(),
  policy_hash: Digest.nullable(),
  policy_epoch: z.int().nullable(),
  confirmed_at: Instant.nullable(),
  fresh_until: Instant.nullable(),
});

export const BoundaryStatus = z.strictObject({
  tenant_id: TenantId,
  /** `ready`: a call could be allowed now. `closed`: every call is denied, by policy or by a fence. */
  status: z.enum(['ready', 'closed']),
  /** Decisions are enforced. A caller can request `shadow` for one call. */
  mode: z.literal('enforce'),
  version: z.string(),
  gates: z.strictObject({
    roster_hash: Digest,
    /** The gates that denied a call with a deliberate fault when this process started. */
    proven: z.array(GateName),
  }),
  policy: PolicyStanding,
  log: z.strictObject({ size: z.int() }),
  last_checkpoint: z
    .strictObject({ checkpoint_id: CheckpointId, tree_size: z.int(), root_hash: Digest, created_at: Instant })
    .nullable(),
  /** Fences in force for the tenant, its agents or its tools. */
  fences: z.array(Fence).max(shownFencesMax),
  more_fences: z.boolean(),
  counts: z.strictObject({
    budgets: Count,
    pending_approvals: Count,
    open_dispatches: Count,
    quarantined_mcp_servers: Count,
    /** Tools that a server offers now and that are new, changed or quarantined. */
    unapproved_tools: Count,
  }),
  /** When a conformance run last confirmed that forbidden calls are denied. `null` when none has run. */
  last_proven_fail_closed: Instant.nullable(),
  updated_at: Instant,
});
export type BoundaryStatus = z.infer<typeof BoundaryStatus>;

export const getBoundaryStatus = defineRoute({
  operation: 'get-boundary-status',
  summary: 'Get the active policy of the tenant, the stops in force, and the number of open calls.',
  method: 'GET',
  path: '/api/v1/boundary/status',
  auth: 'tenant_scoped',
  assertedBy: ['member', 'partner', 'owner'],
  query: TenantQuery,
  reply: BoundaryStatus,
});

export const Capability = z.strictObject({
  capability_id: z.string(),
  /** `not_configured`: the routes of the capability reject requests. */
  status: z.enum(['active', 'not_configured']),
  /** `native`: receipts prove what the capability did. `none`: the capability proves nothing by itself. */
  authority: z.enum(['native', 'none']),
  public_routes: z.array(z.string()),
  receipt_bindings: z.array(z.string()),
});
export type Capability = z.infer<typeof Capability>;

export const listBoundaryCapabilities = defineRoute({
  operation: 'list-boundary-capabilities',
  summary: 'List the capabilities of this kernel for the tenant, as configured.',
  method: 'GET',
  path: '/api/v1/boundary/capabilities',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({ capabilities: z.array(Capability) }),
});

export const getConsoleBootstrap = defineRoute({
  operation: 'get-console-bootstrap',
  summary: 'Get the health, counts and latest receipts for the first page of a console.',
  method: 'GET',
  path: '/api/v1/console/bootstrap',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({
    version: z.string(),
    workspace: z.strictObject({ tenant_id: TenantId, mode: z.literal('enforce') }),
    health: z.strictObject({
      kernel: z.enum(['ready', 'closed']),
      policy: PolicyStanding.shape.state,
      store: z.literal('up'),
      conformance: z.enum(['proven', 'not_run']),
    }),
    counts: z.strictObject({
      /** Receipts of all tenants, since they share one log. */
      log_receipts: z.int(),
      pending_approvals: Count,
      open_dispatches: Count,
      fences: Count,
      budgets: Count,
      mcp_tools: Count,
    }),
    receipts: z.array(StoredReceipt).max(shownReceiptsMax),
    mcp: z.strictObject({ authorization: z.literal('bearer'), quarantined_servers: Count }),
  }),
});

export const SurfaceId = z.enum([
  'overview',
  'approvals',
  'policies',
  'boundary',
  'mcp',
  'budgets',
  'receipts',
  'evidence',
  'trust',
  'telemetry',
  'developer',
]);
export type SurfaceId = z.infer<typeof SurfaceId>;

const Surface = z.strictObject({
  id: SurfaceId,
  status: z.enum(['ready', 'empty']),
  /** Routes that the surface reads, as `METHOD /path`. */
  routes: z.array(z.string()),
});

export const listConsoleSurfaces = defineRoute({
  operation: 'list-console-surfaces',
  summary: 'List the console pages that this kernel serves, and whether the tenant has data for them.',
  method: 'GET',
  path: '/api/v1/console/surfaces',
  auth: 'tenant_scoped',
  query: TenantQuery,
  reply: z.strictObject({ surfaces: z.array(Surface) }),
});

export const getConsoleSurface = defineRoute({
  operation: 'get-console-surface',
  summary: 'Get a console page with its counts.',
  method: 'GET',
  path: '/api/v1/console/surfaces/{surface_id}',
  auth: 'tenant_scoped',
  params: z.strictObject({ surface_id: z.string().min(1).max(64) }),
  query: TenantQuery,
  reply: Surface.extend({ summary: z.record(z.string(), z.union([z.int(), z.string()])), generated_at: Instant }),
  errors: ['NOT_FOUND'],
});
