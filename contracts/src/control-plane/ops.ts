import { z } from 'zod';
import { BoundaryTargets } from '../governance-kernel/boundary-targets.ts';
import { CallInFlight, callsInFlightMax, FenceScope } from '../governance-kernel/fences.ts';
import { BoundaryStatus, shownFencesMax } from '../governance-kernel/standing.ts';
import { defineRoute } from '../route.ts';
import {
  CommandId,
  ControlVersion,
  IncidentId,
  Instant,
  PrincipalId,
  ReceiptId,
  RunId,
  storableText,
  ToolName,
  WorkspaceId,
} from '../scalars.ts';

const serverId = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const names: Record<string, z.ZodType> = {
  // Loose on purpose: the id of another workspace gets the same answer as an unused one.
  workspace: z.string().min(1).max(128),
  agent: PrincipalId,
  tool: ToolName,
  connector: z.string().regex(serverId),
};

/**
 * The target of a stop, always within one workspace: `workspace:<id>`, `agent:<principal>`, `tool:<name>`, or
 * `connector:<server_id>` for what the workspace calls of an MCP server. Other workspaces go on calling it.
 */
export const OpsTarget = z
  .string()
  .refine((text) => {
    const at = text.indexOf(':');
    return at > 0 && names[text.slice(0, at)]?.safeParse(text.slice(at + 1)).success === true;
  }, 'must be workspace:<id>, agent:<principal>, tool:<name> or connector:<server_id>')
  .brand<'OpsTarget'>();
export type OpsTarget = z.infer<typeof OpsTarget>;

export const StopKind = z.enum(['freeze', 'throttle', 'quarantine']);
export type StopKind = z.infer<typeof StopKind>;

/** A stop, or `open`: what stood is lifted. */
export const CommandKind = z.enum([...StopKind.options, 'open']);
export type CommandKind = z.infer<typeof CommandKind>;

/** Thirty days: a stop for longer has no end and stays in force until it is resumed. */
const ttlSecondsMax = 2_592_000;

const Command = {
  target: OpsTarget,
  /** Shown to the callers that are stopped. */
  reason: storableText({ min: 1, max: 500 }),
};

export const StopTerms = {
  ...Command,
  ttl_seconds: z.int().min(1).max(ttlSecondsMax).optional(),
};

export const ThrottleTerms = {
  limit: z.int().min(0).max(1_000_000_000),
  window_seconds: z.int().min(1).max(86_400).default(60),
};

export const OpsCommand = z.strictObject({
  command_id: CommandId,
  target: OpsTarget,
  kind: CommandKind,
  /** The epoch of the target; it only rises. */
  epoch: ControlVersion,
  /**
   * `unconfirmed`: the kernel has not confirmed it. It is delivered until the kernel does. `outdated`: it stopped nothing, because its end
   * had passed when the kernel was reached, or because a fence was in force that is later or stops more.
   */
  state: z.enum(['effective', 'unconfirmed', 'outdated']),
  reason: z.string(),
  /** Set for a throttle: the number of calls in each window. */
  limit: z.int().nullable(),
  window_seconds: z.int().nullable(),
  given_by: PrincipalId,
  given_at: Instant,
  /** From then on no kernel sends a call within the target, at the latest a second later. `null` unless it is effective. */
  effective_at: Instant.nullable(),
  /** `null` when it stays in force until it is resumed. */
  expires_at: Instant.nullable(),
  /** The decision that allowed to lift the stop; `null` for a stop, which needs no decision. */
  receipt_id: ReceiptId.nullable(),
  /** For which it was given; null: for none. */
  incident_id: IncidentId.nullable(),
});
export type OpsCommand = z.infer<typeof OpsCommand>;

const openCalls = {
  /** Calls that were sent before and are not settled, oldest first. `null` when the kernel could not be reached. */
  open_dispatches: z.array(CallInFlight).max(callsInFlightMax).nullable(),
  more_open_dispatches: z.boolean(),
};

export const GivenCommand = OpsCommand.extend({
  ...openCalls,
  /** Runs that wait for an approval of a call within the target. `null` when the gateway could not be reached. */
  parked_runs: z.array(RunId).nullable(),
  /**
   * Whether the kernel knows an agent, tool or server of this name. A stop of an unknown name applies to that exact name, which may be
   * misspelt. `null` when the kernel did not answer, or has more names than it lists.
   */
  known: z.boolean().nullable(),
  /** Calls within the target in the last seven days. `null` when the kernel did not answer. */
  calls_last_7d: z.int().min(0).nullable(),
});
export type GivenCommand = z.infer<typeof GivenCommand>;

/** A stop that is given by itself; one of a plan is for the incident of its plan. */
const GivenTerms = { ...StopTerms, incident_id: IncidentId.optional() };

const stopOrder = {
  auth: 'session',
  idempotency: 'key',
  leastRole: 'partner',
  right: 'stop.give',
  /** Delivered later. */
  alsoStatus: [202],
  bodyBytesMax: 10_000,
  reply: GivenCommand,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'END_PASSED'],
} as const;

export const freezeTarget = defineRoute({
  ...stopOrder,
  operation: 'freeze-target',
  summary: 'Stop every call of a workspace, an agent, a tool or a connector, until it is resumed or its time is over.',
  method: 'POST',
  path: '/api/ops/freeze',
  forward: {},
  alsoStatus: [...stopOrder.alsoStatus],
  errors: [...stopOrder.errors],
  body: z.strictObject(GivenTerms),
});

export const quarantineTarget = defineRoute({
  ...stopOrder,
  operation: 'quarantine-target',
  summary: 'Stop one workspace, agent, tool or connector because it is not trusted; no other is stopped.',
  method: 'POST',
  path: '/api/ops/quarantine',
  forward: {},
  alsoStatus: [...stopOrder.alsoStatus],
  errors: [...stopOrder.errors],
  body: z.strictObject(GivenTerms),
});

export const throttleTarget = defineRoute({
  ...stopOrder,
  operation: 'throttle-target',
  summary: 'Let so many calls through in each window, for an hour unless another time is given.',
  method: 'POST',
  path: '/api/ops/throttle',
  forward: {},
  alsoStatus: [...stopOrder.alsoStatus],
  errors: [...stopOrder.errors],
  body: z.strictObject({ ...GivenTerms, ...ThrottleTerms }),
});

export const resumeTarget = defineRoute({
  operation: 'resume-target',
  summary:
    'Lift what stops a workspace, an agent, a tool or a connector, once the kernel has allowed this very change (`fence.lift`). A wider stop, ' +
    'or one that was commanded in the meantime, stays in force.',
  method: 'POST',
  path: '/api/ops/resume',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  needsPresence: true,
  leastRole: 'owner',
  right: 'stop.lift',
  alsoStatus: [202],
  bodyBytesMax: 10_000,
  body: z.strictObject({
    ...Command,
    /** The epoch of the fence to lift; another one stays in force. Without it whatever stands is lifted. */
    epoch: ControlVersion.optional(),
  }),
  reply: GivenCommand,
  errors: ['ILLEGAL_TRANSITION', 'POLICY_DENIED', 'APPROVAL_NEEDED', 'GOVERNANCE_UNAVAILABLE'],
});

/** A fence as the kernel holds it. */
const StandingFence = z.strictObject({
  scope: FenceScope,
  /** `null` when it covers more than this workspace and cannot be resumed here. */
  target: OpsTarget.nullable(),
  kind: StopKind,
  epoch: ControlVersion,
  reason: z.string(),
  limit: z.int().nullable(),
  window_seconds: z.int().nullable(),
  set_by: PrincipalId,
  effective_at: Instant,
  expires_at: Instant.nullable(),
  ...openCalls,
});
export type StandingFence = z.infer<typeof StandingFence>;

/** The most unconfirmed commands that one answer shows. */
export const unconfirmedMax = 100;

export const getOps = defineRoute({
  operation: 'get-ops',
  summary:
    'The current stops of the workspace, as reported by the kernel. While the kernel is away nothing is shown as in force; commands that it has not ' +
    'confirmed are listed separately.',
  method: 'GET',
  path: '/api/ops',
  auth: 'session',
  forward: {},
  opensToPrograms: true,
  leastRole: 'member',
  right: 'stop.read',
  reply: z.strictObject({
    workspace_id: WorkspaceId,
    kernel: z.enum(['ok', 'unreachable']),
    /** The state that the kernel reports; `null` while it is away. */
    boundary: BoundaryStatus.pick({ status: true, mode: true, last_proven_fail_closed: true })
      .extend({ open_dispatches: z.int(), pending_approvals: z.int() })
      .nullable(),
    fences: z.array(StandingFence).max(shownFencesMax),
    more_fences: z.boolean(),
    /** In the order in which they were given. */
    unconfirmed: z.array(OpsCommand).max(unconfirmedMax),
  }),
});
export type OpsOverview = z.infer<typeof getOps.reply>;

export const listOpsTargets = defineRoute({
  operation: 'list-ops-targets',
  summary:
    'The possible targets of a stop: the agents, tools and servers of the workspace, each with its calls of the last seven days.',
  method: 'GET',
  path: '/api/ops/targets',
  auth: 'session',
  forward: {},
  opensToPrograms: true,
  leastRole: 'member',
  right: 'stop.read',
  reply: BoundaryTargets,
  errors: ['GOVERNANCE_UNAVAILABLE'],
});

/**
 * The target that is compared with the state of control plane and gateway: `connector:<server_id>` is one server with
 * its tools.
 */
const ResyncTarget = z.union([
  z.enum(['policy', 'fences', 'relations']),
  z
    .string()
    .regex(/^connector:[a-z0-9][a-z0-9_-]{0,62}$/, 'must be policy, fences, relations or connector:<server_id>'),
]);

/** In the order in which they become worse. */
export const ResyncState = z.enum([
  'in_sync',
  /** The kernel holds it again. */
  'repaired',
  /** The kernel was told, and has not said that it holds it. */
  'unconfirmed',
  /** The kernel holds something else, which people have to change. */
  'differs',
]);
export type ResyncState = z.infer<typeof ResyncState>;

const resyncFoundMax = 200;

export const Resynced = z.strictObject({
  what: ResyncTarget,
  /** The worst of what was found. */
  state: ResyncState,
  /** The number of things that were compared. */
  checked: z.int().min(0),
  /** Those that are not in sync, or were not. */
  found: z
    .array(z.strictObject({ ref: z.string(), state: ResyncState.exclude(['in_sync']), note: z.string() }))
    .max(resyncFoundMax),
  /** False: there is more than was looked at. */
  is_whole: z.boolean(),
  at: Instant,
});
export type Resynced = z.infer<typeof Resynced>;

export const resyncTarget = defineRoute({
  operation: 'resync-target',
  summary:
    'Have the kernel restore its decided state: the policy is confirmed, stops that it has lost are given again, members are sent again, and the ' +
    'server of a connector is queried for its tools. It changes only what was decided before.',
  method: 'POST',
  path: '/api/ops/resync',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'stop.resync',
  bodyBytesMax: 10_000,
  body: z.strictObject({ what: ResyncTarget, reason: Command.reason }),
  reply: Resynced,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE', 'GATEWAY_UNAVAILABLE'],
});
