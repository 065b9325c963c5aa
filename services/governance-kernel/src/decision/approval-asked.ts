import type { Decision } from '@countersign/policy';
import type { OutgoingEvent } from '@countersign/messaging';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import { pendingApproval, wantsNoLess } from '../controls/approvals/pending.ts';
import { approvalRequestedEvent } from '../events.ts';
import { put, type Change } from '../ledger/control.ts';
import type { CycleSettings } from './conclude-call.ts';
import type { Gathered } from './facts.ts';
import type { Asker, PreparedCall } from './known-call.ts';

type OpenedQuestion = { approval: ApprovalRow; changes: Change[]; events: OutgoingEvent[] };

/**
 * The approval request for an escalated call. An open request for this exact call is reused if it demands at least as
 * much, since two requests could create two grants for one call. `null` when an approval would not help, such as for an
 * unapproved server, or when this call may not open a request.
 */
export function approvalAsked(
  prepared: PreparedCall,
  decision: Decision,
  gathered: Gathered,
  settings: CycleSettings,
): OpenedQuestion | null {
  const { approval_request: request } = decision;
  if (request === undefined) return null;
  const earlier = gathered.open.find((approval) => wantsNoLess(approval, request));
  if (earlier !== undefined) return { approval: earlier, changes: [], events: [] };
  if (!mayAsk(prepared.asker)) return null;
  const approval = pendingApproval(settings, { ...prepared, decision, request, gathered });
  return { approval, changes: [put(approvals, approval)], events: [approvalRequestedEvent(settings, approval)] };
}

/** Shadow calls, and calls for which there is no approver, open no approval request. */
function mayAsk(asker: Asker): boolean {
  return asker.mode === 'enforce' && !('asksNobody' in asker && asker.asksNobody === true);
}
