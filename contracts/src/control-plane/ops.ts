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
  // Accepts any text, so that the id of another workspace gets the same answer as an unused one.
  workspace: z.string().min(1).max(128),
  agent: PrincipalId,
  tool: ToolName,
  connector: z.string().regex(serverId),
};

/**
 * The target of a stop, always within one workspace: `workspace:<id>`, `agent:<principal>`, `tool:<name>`, or
 * `connector:<server_id>` for the workspace's calls of an MCP server. Other workspaces can still call that server.
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

/** A stop, or `open`, which lifts the current stop. */
export const CommandKind = z.enum([...StopKind.options, 'open']);
export type CommandKind = z.infer<typeof CommandKind>;

/**
 * The longest duration of a stop with an end, thirty days. A stop without an end stays in force until it is resumed.
 */
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
  /** The most calls in each window. */
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
   * `unconfirmed`: the kernel has not confirmed the command, so it is sent again. `outdated`: the command had no
   * effect. Its end had passed when it reached the kernel, or a later or stricter fence was in force.
   */
  state: z.enum(['effective', 'unconfirmed', 'outdated']),
  reason: z.string(),
  /** For a throttle: the most calls in each window. `null` for other commands. */
  limit: z.int().nullable(),
  window_seconds: z.int().nullable(),
  given_by: PrincipalId,
  given_at: Instant,
  /**
   * The time when the command took effect at the kernel. At most a second later, no kernel sends a call that the stop
   * forbids. `null` unless the command is effective.
   */
  effective_at: Instant.nullable(),
  /** The end of the stop. `null` when the stop stays in force until it is resumed. */
  expires_at: Instant.nullable(),
  /** The decision that allowed the lift. `null` for a stop, which needs no decision. */
  receipt_id: ReceiptId.nullable(),
  /** The incident of the command. `null` when it has none. */
  incident_id: IncidentId.nullable(),
});
export type OpsCommand = z.infer<typeof OpsCommand>;

const openCalls = {
  /**
   * Calls that were sent before the stop and are not settled, oldest first. `null` when the kernel could not be
   * reached.
   */
  open_dispatches: z.array(CallInFlight).max(callsInFlightMax).nullable(),
  more_open_dispatches: z.boolean(),
};

export const GivenCommand = OpsCommand.extend({
  ...openCalls,
  /** Runs that wait for an approval of a call within the target. `null` when the gateway could not be reached. */
  parked_runs: z.array(RunId).nullable(),
  /**
   * Whether the kernel knows an agent, tool or server of this name. A stop of an unknown name applies to that exact
   * name, which may be misspelt. `null` when the kernel did not answer, or has more names than it lists.
   */
  known: z.boolean().nullable(),
  /** Calls within the target in the last seven days. `null` when the kernel did not answer. */
  calls_last_7d: z.int().min(0).nullable(),
});
export type GivenCommand = z.infer<typeof GivenCommand>;

/** A single stop. The stop of a plan belongs to the incident of its plan. */
const GivenTerms = { ...StopTerms, incident_id: IncidentId.optional() };

const stopOrder = {
  auth: 'session',
  idempotency: 'key',
  leastRole: 'partner',
  right: 'stop.give',
  /** The kernel has not confirmed the command yet. */
  alsoStatus: [202],
  bodyBytesMax: 10_000,
  reply: GivenCommand,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'END_PASSED'],
} as const;

export const freezeTarget = defineRoute({
  ...stopOrder,
  operation: 'freeze-target',
  summary: 'Freeze all calls of a workspace, agent, tool or connector until it is resumed or the freeze expires.',
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
  summary: 'Quarantine one untrusted workspace, agent, tool or connector. Nothing else is stopped.',
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
  summary:
    'Limit the calls of a workspace, agent, tool or connector in each window. The throttle expires after one hour ' +
    'by default.',
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
    'Lift the stop of a workspace, agent, tool or connector, after the kernel has allowed this change ' +
    '(`fence.lift`). Wider and newer stops stay in force.',
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
    /**
     * The epoch of the fence to lift. A fence with another epoch stays in force. Without an epoch, the current fence is
     * lifted.
     */
    epoch: ControlVersion.optional(),
  }),
  reply: GivenCommand,
  errors: ['ILLEGAL_TRANSITION', 'POLICY_DENIED', 'APPROVAL_NEEDED', 'GOVERNANCE_UNAVAILABLE'],
});

/** A fence as the kernel reports it. */
const StandingFence = z.strictObject({
  scope: FenceScope,
  /** `null` when the fence covers more than this workspace, so it cannot be resumed here. */
  target: OpsTarget.nullable(),
  kind: StopKind,
  epoch: ControlVersion,
  reason: z.string(),
  /** For a throttle: the most calls in each window. `null` for other stops. */
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
    'Get the stops in force in the workspace, as reported by the kernel. Unconfirmed commands are listed ' +
    'separately. If the kernel is unreachable, no stop is listed as in force.',
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
    /** The state that the kernel reports. `null` while it is unreachable. */
    boundary: BoundaryStatus.pick({ status: true, mode: true, last_proven_fail_closed: true })
      .extend({ open_dispatches: z.int(), pending_approvals: z.int() })
      .nullable(),
    fences: z.array(StandingFence).max(shownFencesMax),
    more_fences: z.boolean(),
    /** Oldest first. */
    unconfirmed: z.array(OpsCommand).max(unconfirmedMax),
  }),
});
export type OpsOverview = z.infer<typeof getOps.reply>;

export const listOpsTargets = defineRoute({
  operation: 'list-ops-targets',
  summary: 'List the agents, tools and servers of the workspace that can be stopped, with their calls of seven days.',
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
 * The target of the comparison between kernel, control plane and gateway. `connector:<server_id>` is one server with
 * its tools.
 */
const ResyncTarget = z.union([
  z.enum(['policy', 'fences', 'relations']),
  z
    .string()
    .regex(/^connector:[a-z0-9][a-z0-9_-]{0,62}$/, 'must be policy, fences, relations or connector:<server_id>'),
]);

/** The result of comparing one item, from best to worst. */
export const ResyncState = z.enum([
  'in_sync',
  /** The kernel had another value, and has the expected value again. */
  'repaired',
  /** The command that restores the value was sent to the kernel, which has not confirmed it. */
  'unconfirmed',
  /** The kernel has another value, which a person must change. */
  'differs',
]);
export type ResyncState = z.infer<typeof ResyncState>;

const resyncFoundMax = 200;

export const Resynced = z.strictObject({
  what: ResyncTarget,
  /** The worst state among the compared items. */
  state: ResyncState,
  /** The number of compared items. */
  checked: z.int().min(0),
  /** The items that differed. */
  found: z
    .array(z.strictObject({ ref: z.string(), state: ResyncState.exclude(['in_sync']), note: z.string() }))
    .max(resyncFoundMax),
  /** `false` when there are more items than were compared. */
  is_whole: z.boolean(),
  at: Instant,
});
export type Resynced = z.infer<typeof Resynced>;

export const resyncTarget = defineRoute({
  operation: 'resync-target',
  summary:
    'Restore earlier decisions at the kernel: policy, lost stops, members and the tools of a connector. No new ' +
    'decision is made.',
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
