import { AppError, type Digest, type PlainJson } from '@countersign/contracts';
import { transitionApproval } from '@countersign/contracts/governance-kernel';
import { answer, etag, ifMatchTags } from '@countersign/service-kit';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import type { Caller } from '../../call/governed-call.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { requireSameCeremony } from '../../controls/approvals/ceremony.ts';
import { getApproval } from '../../store/approval-store.ts';
import { awaitMembers } from '../../store/member-store.ts';

/** Approves, denies, revokes or breaks the glass. The request contains the ceremony hash of the displayed state. */
export const transitionApprovalRoute = (kernel: Context) =>
  handleTenant(transitionApproval)(async ({ params, body, caller, req }) => {
    const { tenant, principal } = caller;
    await awaitMembers(kernel.reader, caller);
    const approval = await getApproval(kernel.reader, { tenant, id: params.approval_id });
    const moved = await moveApproval(kernel, {
      tenant,
      id: approval.id,
      session: approval.session,
      approvedBy: approval.approvedBy,
      action: params.action,
      by: principal,
      expectedCeremonyHash: expectedHash(ifMatchTags(req), body.expected_ceremony_hash, approval.ceremonyHash),
      reason: body.reason,
      credential: { kind: caller.assertion === undefined ? 'operator_bearer' : 'assertion' },
      asserted: caller.assertion ?? null,
      evidence: evidenceOf(caller),
    });
    return answer(200, approvalView(moved, kernel.clock().getTime()), etag(moved.ceremonyHash));
  });

/** The evidence of the vote, for its record. */
function evidenceOf({ assertion }: Caller): Record<string, PlainJson> {
  return assertion === undefined
    ? { credential: 'operator_bearer' }
    : { credential: 'assertion', key_id: assertion.keyId };
}

/** Returns the current hash if the request states the same hash. The commit checks it again under the lock. */
function expectedHash(tags: string[] | null, expected: Digest | undefined, current: Digest): Digest {
  if (requireSameCeremony(tags, expected, current)) return current;
  throw new AppError('PRECONDITION_REQUIRED', 'Send the ceremony_hash you read in If-Match or expected_ceremony_hash', {
    param: 'If-Match',
  });
}
