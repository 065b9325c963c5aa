import type { InboxApproval } from '@countersign/contracts/control-plane';

/** The person who started the run or made the key can still refuse the call. */
const mayDeny: ReadonlySet<InboxApproval['obstacle']> = new Set([null, 'OWN_REQUEST', 'UNKNOWN_REQUESTER']);

/** Whether this person may give this vote now. */
export function may({ state, may_decide, obstacle }: InboxApproval, decision: 'approve' | 'deny'): boolean {
  if (state !== 'pending') return false;
  return decision === 'approve' ? may_decide : mayDeny.has(obstacle);
}
