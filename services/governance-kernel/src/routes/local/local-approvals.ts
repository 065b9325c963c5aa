import { AppError, type Digest } from '@countersign/contracts';
import { listApprovals, transitionApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags } from '@countersign/service-kit';
import { approvalView, approvalWithArgs } from '../../controls/approvals/approval-view.ts';
import { requireSameCeremony } from '../../controls/approvals/ceremony.ts';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import { handleTenant } from '../../handle.ts';
import type { Core } from '../../local/open-core.ts';
import { pageOf } from '../../evidence/receipts/page.ts';

export const listApprovalsRoute = ({ reads, clock, argsCipher, provider, policies }: Core) =>
  handleTenant(listApprovals)(async ({ query, caller: { tenant } }) => {
    const nowMs = clock().getTime();
    const { state, session_id: session, approval_id: id, limit, cursor } = query;
    const rows = await reads.listApprovals(tenant, { session, id });
    const viewing = { nowMs, argsCipher, policy: policies.current(tenant) };
    const views = rows
      .map((row) => (query.omit === 'args' ? approvalView(row, nowMs) : approvalWithArgs(row, viewing)))
      .filter((view) => state === undefined || view.state === state)
      .map((view, nth, all) => ({ place: all.length - nth, view }));
    const { data, next_cursor } = await pageOf(
      provider,
      { list: 'approvals', tenant },
      { limit, cursor },
      {
        load: async (page) => views.filter(({ place }) => place < (page.before ?? Infinity)).slice(0, page.limit),
        placeOf: ({ place }) => place,
      },
    );
    return { data: data.map(({ view }) => view), next_cursor };
  });

/** Approves, denies, revokes or breaks the glass, under the rules of the kernel's own route. */
export const transitionApprovalRoute = (core: Core) =>
  handleTenant(transitionApproval)(async ({ params, body, caller, req }) => {
    const { tenant, principal } = caller;
    const [approval] = await core.reads.listApprovals(tenant, { id: params.approval_id });
    if (approval === undefined)
      throw new AppError('NOT_FOUND', 'The tenant has no approval with this ID', { param: 'approval_id' });
    const moved = await moveApproval(core, {
      ...{ tenant, id: approval.id, session: approval.session, approvedBy: approval.approvedBy },
      ...{ action: params.action, by: principal, reason: body.reason, asserted: null },
      expectedCeremonyHash: expectedHash(ifMatchTags(req), body.expected_ceremony_hash, approval.ceremonyHash),
      credential: { kind: 'operator_bearer' },
      evidence: { credential: 'operator_bearer' },
    });
    return answer(200, approvalView(moved, core.clock().getTime()), etag(moved.ceremonyHash));
  });

/** The current hash, if the request states it. The commit checks it again under the lock. */
function expectedHash(tags: string[] | null, expected: Digest | undefined, current: Digest): Digest {
  if (requireSameCeremony(tags, expected, current)) return current;
  throw new AppError('PRECONDITION_REQUIRED', 'Send the ceremony_hash you read in If-Match or expected_ceremony_hash', {
    param: 'If-Match',
  });
}
