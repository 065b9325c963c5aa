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
  /** A person is asked to approve it. */
  'pending',
  'approved',
  'rejected',
  'expired',
  /** Every step of it is commanded. */
  'committed',
]);
export type PlanState = z.infer<typeof PlanState>;

/** Stops that are given together or not at all, with what they were seen to reach. */
export const Plan = z.strictObject({
  plan_id: PlanId,
  workspace_id: WorkspaceId,
  incident_id: IncidentId.nullable(),
  state: PlanState,
  steps: PlanSteps,
  /** The hash of its id, its steps, their reach and its end. An approval of the plan binds this hash. */
  plan_hash: Digest,
  dry_run: BlastRadius,
  /** The kernel's approval of this hash; `null` when none was needed yet. */
  approval_id: ApprovalId.nullable(),
  /** The decision by which it was committed. */
  decision_id: DecisionId.nullable(),
  receipt_id: ReceiptId.nullable(),
  asked_by: PrincipalId,
  created_at: Instant,
  /** From then on it is not committed any more. */
  expires_at: Instant,
  committed_by: PrincipalId.nullable(),
  committed_at: Instant.nullable(),
  /**
   * The commands of the plan. One that the kernel did not take is there no more: something stands that stops as much or
   * more.
   */
  commands: z.array(OpsCommand),
});
export type Plan = z.infer<typeof Plan>;

/** One day, after which the computed reach is too old. */
const ttlSecondsMax = 86_400;

export const createPlan = defineRoute({
  operation: 'create-plan',
  summary: 'Draft stops that are given together, after a dry run that says what they reach.',
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

/** Each plan has its dry run, which can be large. */
const listedPlansMax = 20;

export const listPlans = defineRoute({
  operation: 'list-plans',
  summary: 'Plans of the workspace as they are now, newest first.',
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
  summary: 'One plan as it stands, with the stops that were given by it.',
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
    'Have the kernel decide whether this very plan may be committed: approved at once, or pending until the kernel has a vote.',
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
    'Give all stops of an approved plan at once, if a dry run reaches no further than the one that was approved, and the kernel allows it. It is ' +
    'committed once; asked again, it is shown.',
  path: '/api/ops/plans/{plan_id}/commit',
  auth: 'session',
  forward: {},
  needsPresence: true,
  errors: [...refusals],
});
