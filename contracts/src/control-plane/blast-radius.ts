import { z } from 'zod';
import { RelationTuple } from '../governance-kernel/relation-names.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  DecisionId,
  Digest,
  Instant,
  PrincipalId,
  ReceiptId,
  RunId,
  SessionId,
  TenantId,
  ToolName,
} from '../scalars.ts';
import { OpsTarget, StopTerms, ThrottleTerms } from './ops.ts';

/** A stop whose reach is computed before it is commanded. */
export const PlanStep = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('freeze'), ...StopTerms }),
  z.strictObject({ kind: z.literal('quarantine'), ...StopTerms }),
  z.strictObject({ kind: z.literal('throttle'), ...StopTerms, ...ThrottleTerms }),
]);
export type PlanStep = z.infer<typeof PlanStep>;

/** The most steps of a plan: few enough for a person to read, and for one transaction to command. */
const stepsMax = 20;

export const PlanSteps = z
  .array(PlanStep)
  .min(1)
  .max(stepsMax)
  .refine((steps) => new Set(steps.map(({ target }) => target)).size === steps.length, 'may name each target once');

/** One answer covers at most this many of the newest receipts. `is_whole` reports whether there were more. */
export const radiusReceiptsMax = 10_000;
/** The most agents whose relations are read. */
export const relatedAgentsMax = 100;

/** All lists are sorted, so that the same log gives the same bytes. */
const Affected = z.strictObject({
  /** Principals that called within the targets. */
  agents: z.array(PrincipalId),
  sessions: z.array(SessionId),
  /** Runs that wait for one of `approvals`, or are executing one of `dispatches`. */
  runs: z.array(RunId),
  tools: z.array(ToolName),
  /** The MCP servers of `tools`. */
  connectors: z.array(z.string()),
  /** Pending and unused approvals. While the stops are in force, no call can use them. */
  approvals: z.array(ApprovalId),
  /** Calls that were sent and are not settled. A stop does not undo them. */
  dispatches: z.array(DecisionId),
  /** Relations of `agents`, which these agents cannot use during the stops. */
  relations: z.array(RelationTuple),
});

const examplesMax = 20;

/**
 * The blast radius of stops over the seven days before `tree_size`. The same steps and the same log give the same
 * answer.
 */
export const BlastRadius = z.strictObject({
  type: z.literal('countersign.blast-radius.v1'),
  tenant_id: TenantId,
  steps: z.array(z.strictObject({ kind: z.enum(['freeze', 'quarantine', 'throttle']), target: OpsTarget })),
  /** The size of the signed checkpoint under which the radius was computed. 0 when the workspace has no receipt. */
  tree_size: z.int().min(0),
  /** The root hash of that checkpoint. `null` when the workspace has no receipt. */
  root_hash: Digest.nullable(),
  /** Seven days before the newest receipt. `null` when the workspace has no receipt. */
  from: Instant.nullable(),
  receipts: z.int().min(0),
  /** `false` when the period contains more receipts than the limit. */
  is_whole: z.boolean(),
  /** The number of receipts that do not verify. They are left out. */
  unverifiable: z.int().min(0),
  affected: Affected,
  /** Whether there are more agents than the limit. The relations of the others were not read. */
  more_relations: z.boolean(),
  /** Calls of the period that were allowed or escalated, and would have been denied. */
  denials: z.strictObject({ count: z.int().min(0), first: z.array(ReceiptId).max(examplesMax) }),
  /**
   * `whole`: after the stop is lifted, everything continues as before. `partial`: approvals may expire during the stop
   * and must be requested again.
   */
  reversibility: z.enum(['whole', 'partial']),
  /** The SHA-256 of the canonical JSON of all other members. */
  radius_hash: Digest,
});
export type BlastRadius = z.infer<typeof BlastRadius>;

export const createBlastRadius = defineRoute({
  operation: 'create-blast-radius',
  summary:
    'Compute the blast radius of stops from recent receipts, open calls, open approvals and relations. Results ' +
    'for one tree size are equal. Nothing is changed.',
  method: 'POST',
  path: '/api/ops/blast-radius',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'reads' },
  leastRole: 'member',
  right: 'plan.read',
  keyScopes: ['basic:read'],
  body: z.strictObject({ steps: PlanSteps }),
  bodyBytesMax: 50_000,
  reply: BlastRadius,
  errors: ['NOT_FOUND', 'INVALID_REQUEST', 'GOVERNANCE_UNAVAILABLE'],
});
