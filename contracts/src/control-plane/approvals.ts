import { z } from 'zod';
import { DecisionObstacle } from '../decision-obstacle.ts';
import { Approval, ApprovalDecision, ApprovalReason, ApprovalState } from '../governance-kernel/approvals.ts';
import { PasskeyAssertion } from '../governance-kernel/passkeys.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApprovalId, ChallengeId, SessionId } from '../scalars.ts';
import { OfWorkspace } from './workspace-path.ts';

export const InboxApproval = Approval.extend({
  /** Whether the calling person may approve the request now. */
  may_decide: z.boolean(),
  /** Why the person may not approve the request. `null` when they may, or when the request is no longer pending. */
  obstacle: DecisionObstacle.nullable(),
});
export type InboxApproval = z.infer<typeof InboxApproval>;

export const listInboxApprovals = defineRoute({
  operation: 'list-inbox-approvals',
  summary: "List the kernel's approvals that agents of the workspace requested, newest first.",
  method: 'GET',
  path: '/api/v1/workspaces/{id}/approvals',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'approval.read',
  keyScopes: ['basic:read'],
  opensToPrograms: true,
  params: OfWorkspace,
  query: z.strictObject({
    state: ApprovalState.optional(),
    session_id: SessionId.optional(),
    /** Return only this approval. */
    approval_id: ApprovalId.optional(),
    ...PageQuery,
  }),
  reply: page(InboxApproval),
  errors: ['GOVERNANCE_UNAVAILABLE', 'GATEWAY_UNAVAILABLE'],
});

export const resolveApproval = defineRoute({
  operation: 'resolve-approval',
  summary:
    "Approve or deny a request with a passkey. Before the workspace's first passkey, use If-Match with the " +
    '`ceremony_hash` instead.',
  method: 'POST',
  path: '/api/v1/workspaces/{id}/approvals/{approval_id}/resolve',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  leastRole: 'partner',
  right: 'approval.decide',
  bodyBytesMax: 65_536,
  params: OfWorkspace.extend({ approval_id: ApprovalId }),
  body: z
    .strictObject({
      decision: ApprovalDecision,
      /** Required for a denial. The agent's model reads it. */
      reason: ApprovalReason.min(1).optional(),
      challenge_id: ChallengeId.optional(),
      assertion: PasskeyAssertion.optional(),
    })
    .refine(({ decision, reason }) => decision !== 'deny' || reason !== undefined, {
      path: ['reason'],
      message: 'must contain the reason for the denial',
    })
    .refine((body) => (body.challenge_id === undefined) === (body.assertion === undefined), {
      path: ['challenge_id'],
      message: 'must be sent together with assertion',
    }),
  reply: Approval,
  errors: [
    'ILLEGAL_TRANSITION',
    'PRECONDITION_REQUIRED',
    'PRECONDITION_FAILED',
    'MAY_NOT_DECIDE',
    'PASSKEY_REQUIRED',
    'PASSKEY_REFUSED',
    'GOVERNANCE_UNAVAILABLE',
  ],
});
