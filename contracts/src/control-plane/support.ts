import { z } from 'zod';
import { ReasonCode } from '../reason-codes.ts';
import { defineRoute } from '../route.ts';
import { DecisionId, Digest, Instant, ReceiptId, RunId, TaskId, Verdict, WorkspaceId } from '../scalars.ts';
import { AuthMechanism, ReportedMember } from '../told-request.ts';

const Shape = z.strictObject({
  state: z.enum(['none', 'unread', 'malformed', 'read']),
  /** Members that the contract of the route defines, with types and lengths. */
  members: z.array(ReportedMember),
  /** The number of unknown members. Their names are omitted because they may contain anything. */
  unknown_members: z.int().min(0),
  is_cut: z.boolean(),
});

/** The receipt of the decision behind the answer, verified with the keys that the control plane trusts. */
const SupportedDecision = z.strictObject({
  decision_id: DecisionId,
  receipt_id: ReceiptId,
  receipt_hash: Digest,
  verdict: Verdict,
  reason_code: ReasonCode,
  verified: z.boolean(),
  /** Why the receipt does not verify. `null` when it does. */
  fault: z.string().nullable(),
});

/**
 * A report for the support of the installation. It contains our own names and ids, types and lengths, and no value of
 * the caller.
 */
export const SupportReport = z.strictObject({
  type: z.literal('countersign.support-report.v1'),
  request_id: z.string(),
  /** `null` when the request named no device of this person. */
  workspace_id: WorkspaceId.nullable(),
  failed_at: Instant,
  /** The version of each service. `null` while the service does not answer. */
  versions: z.strictObject({ gateway: z.string(), control_plane: z.string(), kernel: z.string().nullable() }),
  /** The current state of the kernel, and whether it would allow a call. `null` when the kernel does not answer. */
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
  /** `null` when the request failed before a decision, or the kernel does not show the decision now. */
  decision: SupportedDecision.nullable(),
  /**
   * The policy of that decision, or else the active policy of the workspace. `null` when neither exists or the kernel
   * does not answer.
   */
  policy: z
    .strictObject({
      policy_hash: Digest,
      policy_epoch: z.int().min(0),
      /** Whether this is the policy of the decision or the active policy. */
      of: z.enum(['decision', 'in_force']),
    })
    .nullable(),
  /** The whole report as text, for an issue. */
  text: z.string(),
});
export type SupportReport = z.infer<typeof SupportReport>;

export const createSupportReport = defineRoute({
  operation: 'create-support-report',
  summary:
    'Create a support report on a failed request of the last week, by its request id. Partners and owners can ' +
    'report any request of the workspace. Nothing is stored.',
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
