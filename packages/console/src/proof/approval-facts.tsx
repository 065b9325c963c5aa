import type { z } from 'zod';
import type { PublicApproval } from '@countersign/contracts/control-plane';
import { CopyText } from '../parts/copy-text.tsx';
import { Mark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';

export function ApprovalFacts({ approval }: { approval: z.infer<typeof PublicApproval> }) {
  const { state, quorum, approved, method, approval_id, ceremony_hash } = approval;
  return (
    <>
      <section aria-labelledby="published">
        <h2 id="published">What is published about this approval</h2>
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <Mark tone="plain">{state}</Mark>
          </dd>
          <dt>Approved by</dt>
          <dd>
            {approved} of {quorum}
            {method === 'break_glass' && ', alone by emergency access'}
          </dd>
          <dt>Requested</dt>
          <dd>
            <Moment at={approval.requested_at} />
          </dd>
          <dt>Last change</dt>
          <dd>
            <Moment at={approval.updated_at} />
          </dd>
          <dt>State of</dt>
          <dd>
            <Moment at={approval.published_at} />
          </dd>
          <dt>approval_id</dt>
          <dd>
            <CopyText text={approval_id} />
          </dd>
          <dt>ceremony_hash</dt>
          <dd>
            <CopyText text={ceremony_hash} />
          </dd>
        </dl>
      </section>
      <section aria-labelledby="unproven">
        <h2 id="unproven">What this does not prove</h2>
        <p className="note">
          This page shows what the installation reports about the approval. The approver and the call are not public.
          The receipts of the workspace prove the approver and the call to anyone who has these receipts.
        </p>
      </section>
    </>
  );
}
