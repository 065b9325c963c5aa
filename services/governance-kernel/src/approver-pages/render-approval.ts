import { minorTaken } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { Prepared } from '@countersign/service-kit';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import type { ArgsCipher } from '../approvals/args-cipher.ts';
import { approvalWithArgs } from '../approvals/approval-view.ts';
import type { Electorate, VoteCredential } from '../voting/decision-rights.ts';
import { obstacleOf } from '../approvals/transition.ts';
import { approvalPage, type ApprovalPage, type ViewerPasskeys } from './approval-page.ts';
import type { ApproverSession, ApproverSessions } from './sessions.ts';

type Parts = {
  provider: CryptoProvider;
  argsCipher: ArgsCipher;
  approverSessions: ApproverSessions;
  clock: () => Date;
};

type Rendered = {
  row: ApprovalRow;
  electorate: Electorate;
  passkeys: ViewerPasskeys;
  notice?: ApprovalPage['notice'];
};

/** The page of an approval in its current state, with the moves that the viewer has under the rules of a vote. */
export function renderApproval(
  { provider, argsCipher, approverSessions, clock }: Parts,
  session: ApproverSession,
  { row, electorate, passkeys, notice }: Rendered,
): Prepared {
  const nowMs = clock().getTime();
  const { id, ceremonyHash } = row;
  const viewer = session.key.principal;
  const credential: VoteCredential = passkeys.areRequired
    ? { kind: 'passkey', id: null }
    : { kind: 'access_key', id: session.key.id };
  // The reason that a person will give, since none is asked for yet. Which proof the terms want, the page says beside it.
  const obstacle = (action: ApprovalDecision) =>
    obstacleOf(provider, row, { electorate, action, by: viewer, credential, asserted: null, nowMs, reason: 'given' });
  return approvalPage({
    approval: { ...approvalWithArgs(row, { nowMs, argsCipher }), spend_minor: spendMinor(row.demand) },
    viewer,
    nowMs,
    obstacles: {
      approve: obstacle('approve'),
      deny: obstacle('deny'),
      revoke: obstacle('revoke'),
      break_glass: obstacle('break_glass'),
    },
    passkeys,
    tokens: {
      enrol: approverSessions.csrfToken(session, { id, action: 'enrol' }),
      decide: approverSessions.csrfToken(session, { id, action: 'decide', ceremonyHash }),
      signOut: approverSessions.csrfToken(session, { id, action: 'sign-out' }),
    },
    ...(notice === undefined ? {} : { notice }),
  });
}

/** The amount without millionths, for people. */
function spendMinor({ spend_micros: spend }: ApprovalRow['demand']): number | null {
  return spend === null ? null : minorTaken(BigInt(spend));
}
