import type { InboxApproval } from '@countersign/contracts/control-plane';

/** A person who may not approve their own request can still deny it. */
const mayDeny: ReadonlySet<InboxApproval['obstacle']> = new Set([null, 'OWN_REQUEST', 'UNKNOWN_REQUESTER']);

/** Whether this person may cast this vote now. */
export function may({ state, may_decide, obstacle }: InboxApproval, decision: 'approve' | 'deny'): boolean {
  if (state !== 'pending') return false;
  return decision === 'approve' ? may_decide : mayDeny.has(obstacle);
}
