import { z } from 'zod';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant, ReceiptId, RunId, TaskId, Verdict, WorkspaceId } from '../scalars.ts';
import { AuthMechanism, ReportedMember } from '../told-request.ts';

const Shape = z.strictObject({
  state: z.enum(['none', 'unread', 'malformed', 'read']),
  /** Names that the contract of the route knows, with types and lengths. */
  members: z.array(ReportedMember),
  /** Counted and not named: their names may be anything. */
  unknown_members: z.int().min(0),
  is_cut: z.boolean(),
});

/** The receipt of the decision that the answer rested on, checked against the keys that the control plane trusts. */
const SupportedDecision = z.strictObject({
  decision_id: DecisionId,
  receipt_id: ReceiptId,
  receipt_hash: Digest,
  verdict: Verdict,
  reason_code: ReasonCode,
  verified: z.boolean(),
  /** Why it does not verify. */
  fault: z.string().nullable(),
});

/** A report for the support of the installation: names and ids that are ours, types and lengths, and no value. */
export const SupportReport = z.strictObject({
  type: z.literal('countersign.support-report.v1'),
  request_id: z.string(),
  /** Null: the request named none, or none of its person's. */
  workspace_id: WorkspaceId.nullable(),
  failed_at: Instant,
  /** The version of each part; `null` while it does not answer. */
  versions: z.strictObject({ gateway: z.string(), control_plane: z.string(), kernel: z.string().nullable() }),
  /** How the kernel decides now, and whether it would allow anything; null: it does not answer. */
  mode: z.strictObject({ mode: z.literal('enforce'), boundary: z.enum(['ready', 'closed']) }).nullable(),
  endpoint: z.strictObject({
    method: z.string(),
    path: z.string(),
    path_ids: z.record(z.string(), z.string()),
    /** The operation in the contract; `null` when no route has this path. */
    operation: z.string().nullable(),
  }),
  /** The mechanism by which the caller authenticated, and the principal that it proved. */
  auth: AuthMechanism,
  principal: z.string(),
  status: z.int().min(400).max(599),
  error_code: z.string().nullable(),
  reason_code: z.string().nullable(),
  task_id: TaskId.nullable(),
  run_id: RunId.nullable(),
  request: z.strictObject({
    query: Shape,
    body: Shape.extend({ content_type: z.string().nullable(), bytes: z.int().min(0).nullable() }),
  }),
  /** Null: it failed before anything was decided, or the kernel does not show it now. */
  decision: SupportedDecision.nullable(),
  /** The policy of that decision, or else the one in force in the workspace that asks; null: there is none, or the kernel does not answer. */
  policy: z
    .strictObject({ policy_hash: Digest, policy_epoch: z.int().min(0), of: z.enum(['decision', 'in_force']) })
    .nullable(),
  /** All of it, to paste into an issue. */
  text: z.string(),
});
export type SupportReport = z.infer<typeof SupportReport>;

export const createSupportReport = defineRoute({
  operation: 'create-support-report',
  summary:
    'Report on a failed request of the last week, by the request id of its answer, for the support of the installation: one’s ' +
    'own requests, and for a partner or the owner those of the workspace. It keeps nothing.',
  method: 'POST',
  path: '/api/ops/support-reports',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'reads' },
  leastRole: 'member',
  right: 'report.create',
  body: z.strictObject({ request_id: z.string().min(1).max(128) }),
  bodyBytesMax: 1_000,
  reply: SupportReport,
  errors: ['NOT_FOUND', 'GATEWAY_UNAVAILABLE'],
});
