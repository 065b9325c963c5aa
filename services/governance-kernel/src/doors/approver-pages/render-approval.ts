import { minorTaken } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { Prepared } from '@countersign/service-kit';
import type { ApprovalRow } from '../../controls/approvals/approval-row.ts';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { approvalWithArgs } from '../../controls/approvals/approval-view.ts';
import type { Electorate, VoteCredential } from '../../controls/voting/decision-rights.ts';
import { obstacleOf } from '../../controls/approvals/transition.ts';
import { approvalPage, type ApprovalPage, type ViewerPasskeys } from './approval-page.ts';
import type { ApproverSession, ApproverSessions } from './sessions.ts';

type Deps = {
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

/** The page of an approval in its current state, with the moves that the rules of a vote permit to the viewer. */
export function renderApproval(
  { provider, argsCipher, approverSessions, clock }: Deps,
  session: ApproverSession,
  { row, electorate, passkeys, notice }: Rendered,
): Prepared {
  const nowMs = clock().getTime();
  const { id, ceremonyHash } = row;
  const viewer = session.key.principal;
  const credential: VoteCredential = passkeys.areRequired
    ? { kind: 'passkey', id: null }
    : { kind: 'access_key', id: session.key.id };
  // Assumes that a reason will be given, since none has been entered yet. The page separately shows which credential
  // the terms require.
  const obstacle = (action: ApprovalDecision) =>
    obstacleOf(provider, row, { electorate, action, by: viewer, credential, asserted: null, nowMs, reason: 'given' });
  return approvalPage({
    approval: { ...approvalWithArgs(row, { nowMs, argsCipher, policy: null }), spend_minor: spendMinor(row.demand) },
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

/** The amount for people: whole minor units, rounded up. */
function spendMinor({ spend_micros: spend }: ApprovalRow['demand']): number | null {
  return spend === null ? null : minorTaken(BigInt(spend));
}
