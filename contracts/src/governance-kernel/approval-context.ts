import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, Instant } from '../scalars.ts';

export const similarDays = 30;
/** The most earlier requests that are counted, the newest first. */
export const similarMax = 1_000;

/** The results of earlier requests of the same agent for the same action and tool, within 30 days. */
export const SimilarRequests = z.strictObject({
  /** Includes approvals that were not used. */
  approved: z.int().min(0).max(similarMax),
  denied: z.int().min(0).max(similarMax),
  /** Requests that expired or were withdrawn without enough votes. */
  undecided: z.int().min(0).max(similarMax),
  /** True when there are older requests that are not counted. */
  has_more: z.boolean(),
  /** The newest decided request. `null` when none was decided. */
  latest: z
    .strictObject({ approval_id: ApprovalId, decision: z.enum(['approved', 'denied']), decided_at: Instant })
    .nullable(),
});
export type SimilarRequests = z.infer<typeof SimilarRequests>;

export const getApprovalContext = defineRoute({
  operation: 'get-approval-context',
  summary: 'Get how earlier requests of the same agent for the same tool were decided within 30 days.',
  method: 'GET',
  path: '/api/v1/approvals/{approval_id}/context',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'approval.read' },
  assertedBy: ['member', 'partner', 'owner'],
  params: z.strictObject({ approval_id: ApprovalId }),
  query: z.strictObject({ tenant_id: z.string().optional() }),
  reply: z.strictObject({ approval_id: ApprovalId, similar: SimilarRequests }),
  errors: ['NOT_FOUND'],
});
