import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  DecisionId,
  Digest,
  IncidentId,
  Instant,
  PlanId,
  PrincipalId,
  ReceiptId,
  WorkspaceId,
} from '../scalars.ts';
import { BlastRadius, PlanSteps } from './blast-radius.ts';
import { OpsCommand } from './ops.ts';

export const PlanState = z.enum([
  'draft',
  /** The plan waits for the vote of a person. */
  'pending',
  'approved',
  'rejected',
  'expired',
  /** All stops of the plan are commanded. */
  'committed',
]);
export type PlanState = z.infer<typeof PlanState>;

/** Stops that are set together or not at all, with the calls that they would have reached. */
export const Plan = z.strictObject({
  plan_id: PlanId,
  workspace_id: WorkspaceId,
  incident_id: IncidentId.nullable(),
  state: PlanState,
  steps: PlanSteps,
  /** The hash of the plan's id, steps, blast radius and end. An approval of the plan binds this hash. */
  plan_hash: Digest,
  dry_run: BlastRadius,
  /** The kernel's approval of this hash. `null` while no approval was needed. */
  approval_id: ApprovalId.nullable(),
  /** The decision that allowed the commit. `null` before the commit. */
  decision_id: DecisionId.nullable(),
  receipt_id: ReceiptId.nullable(),
  asked_by: PrincipalId,
  created_at: Instant,
  /** The plan cannot be committed after this time. */
  expires_at: Instant,
  committed_by: PrincipalId.nullable(),
  committed_at: Instant.nullable(),
  /**
   * The commands of the plan. A command that the kernel rejected is omitted. In that case, another stop with at least
   * the same effect is in force.
   */
  commands: z.array(OpsCommand),
});
export type Plan = z.infer<typeof Plan>;

/** One day. After that, the computed blast radius is too old. */
const ttlSecondsMax = 86_400;

export const createPlan = defineRoute({
  operation: 'create-plan',
  summary: 'Create a draft plan of stops that are committed together. A dry run computes their blast radius.',
  method: 'POST',
  path: '/api/ops/plans',
  auth: 'session',
  forward: {},
  idempotency: 'key',
  leastRole: 'partner',
  right: 'plan.create',
  keyScopes: ['basic:write'],
  status: 201,
  body: z.strictObject({
    incident_id: IncidentId.optional(),
    steps: PlanSteps,
    ttl_seconds: z.int().min(1).max(ttlSecondsMax).default(3_600),
  }),
  bodyBytesMax: 50_000,
  reply: Plan,
  errors: ['NOT_FOUND', 'INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'GOVERNANCE_UNAVAILABLE'],
});

/** The most plans of one answer. Few, because each plan includes the result of its dry run, which can be large. */
const listedPlansMax = 20;

export const listPlans = defineRoute({
  operation: 'list-plans',
  summary: 'List the plans of the workspace with their current state, newest first.',
  method: 'GET',
  path: '/api/ops/plans',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'plan.read',
  keyScopes: ['basic:read'],
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(listedPlansMax).default(listedPlansMax),
    cursor: PageQuery.cursor,
    incident_id: IncidentId.optional(),
  }),
  reply: page(Plan),
  errors: ['INVALID_REQUEST'],
});

const OnePlan = z.strictObject({ plan_id: z.string().min(1).max(128) });

export const getPlan = defineRoute({
  operation: 'get-plan',
  summary: 'Get a plan with its current state and the stops that it committed.',
  method: 'GET',
  path: '/api/ops/plans/{plan_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'plan.read',
  keyScopes: ['basic:read'],
  params: OnePlan,
  reply: Plan,
  errors: ['NOT_FOUND'],
});

const ofPlan = {
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  leastRole: 'owner',
  params: OnePlan,
  body: z.strictObject({ plan_hash: Digest }),
  bodyBytesMax: 1_000,
  reply: Plan,
} as const;

const refusals = [
  'NOT_FOUND',
  'PLAN_STALE',
  'ILLEGAL_TRANSITION',
  'POLICY_DENIED',
  'APPROVAL_NEEDED',
  'GOVERNANCE_UNAVAILABLE',
] as const;

export const approvePlan = defineRoute({
  ...ofPlan,
  operation: 'approve-plan',
  right: 'plan.approve',
  summary:
    "Request the kernel's decision on the commit of this exact plan. The plan is then approved, or pending until " +
    'a person votes.',
  path: '/api/ops/plans/{plan_id}/approve',
  auth: 'session',
  forward: {},
  errors: [...refusals],
});

export const commitPlan = defineRoute({
  ...ofPlan,
  operation: 'commit-plan',
  right: 'plan.commit',
  summary:
    'Commit all stops of an approved plan together. The kernel must allow it, and the blast radius must not have ' +
    'grown. A repeated request returns the plan.',
  path: '/api/ops/plans/{plan_id}/commit',
  auth: 'session',
  forward: {},
  needsPresence: true,
  errors: [...refusals],
});
