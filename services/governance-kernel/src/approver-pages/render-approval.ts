import type { CryptoProvider } from '@countersign/crypto';
import type { Prepared } from '@countersign/service-kit';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvalView } from '../approvals/approval-view.ts';
import { obstacleOf } from '../approvals/transition.ts';
import { approvalPage, type ApprovalPage } from './approval-page.ts';
import type { ApproverSession, ApproverSessions } from './sessions.ts';

type Parts = { provider: CryptoProvider; approverSessions: ApproverSessions; clock: () => Date };

/** The page of an approval as it is now, for whoever is signed in: with the moves that this person has, under the rules of a vote. */
export function renderApproval(
  { provider, approverSessions, clock }: Parts,
  session: ApproverSession,
  { row, notice }: { row: ApprovalRow; notice?: ApprovalPage['notice'] },
): Prepared {
  const nowMs = clock().getTime();
  const { id, ceremonyHash } = row;
  const viewer = session.key.principal;
  return approvalPage({
    approval: { effect_level: row.effectLevel, ...approvalView(row, nowMs) },
    viewer,
    nowMs,
    obstacles: {
      approve: obstacleOf(provider, row, { action: 'approve', by: viewer, nowMs }),
      deny: obstacleOf(provider, row, { action: 'deny', by: viewer, nowMs }),
    },
    tokens: {
      decide: approverSessions.csrfToken(session, { id, action: 'decide', ceremonyHash }),
      signOut: approverSessions.csrfToken(session, { id, action: 'sign-out' }),
    },
    ...(notice === undefined ? {} : { notice }),
  });
}
