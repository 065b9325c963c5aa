import { z } from 'zod';
import type { InboxApproval } from '@countersign/contracts/control-plane';
import { ApprovalState } from '@countersign/contracts/governance-kernel';

const InboxTab = z.enum(['mine', 'others', 'decided']);
export type InboxTab = z.infer<typeof InboxTab>;

const DecidedState = ApprovalState.exclude(['pending']);
export const decidedStates = DecidedState.options;

/**
 * The shown part of the inbox, as the address contains it. An address that has only the state of a decided call shows
 * the decided calls.
 */
export const InboxSearch = z
  .object({ tab: InboxTab.optional().catch(undefined), state: DecidedState.optional().catch(undefined) })
  .transform(({ tab, state }) => {
    const shown = tab ?? (state === undefined ? 'mine' : 'decided');
    return { tab: shown, state: shown === 'decided' ? state : undefined };
  });
export type InboxSearch = z.infer<typeof InboxSearch>;

/** The state that is requested from the service. Both tabs of waiting calls request the same list. */
export function requestedState({ tab, state }: InboxSearch): ApprovalState | undefined {
  return tab === 'decided' ? state : 'pending';
}

/** Whether a tab contains a call. The service filters by state only. */
export function isInTab(tab: InboxTab, { state, may_decide: mayDecide }: InboxApproval): boolean {
  if (tab === 'decided') return state !== 'pending';
  return state === 'pending' && mayDecide === (tab === 'mine');
}
