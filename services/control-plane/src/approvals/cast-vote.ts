import {
  assertApproval,
  transitionApproval,
  type Approval,
  type ApprovalDecision,
  type PasskeyAssertion,
} from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

type Vote = {
  id: string;
  decision: ApprovalDecision;
  reason?: string | undefined;
  /**
   * `challenge_id` and `assertion` are the kernel's challenge and the answer of the passkey. Without them, the role of
   * the person authorizes the vote.
   */
  challenge_id?: string | undefined;
  assertion?: PasskeyAssertion | undefined;
  /**
   * The value of If-Match: the ceremony hash that was shown. A passkey signs that hash, so a vote with a passkey needs
   * no If-Match.
   */
  ifMatch: string | undefined;
};

/** Submits a vote to the kernel, which checks the voter, the credential and the state that was shown. */
export function castVote(
  { kernel }: Pick<Context, 'kernel'>,
  vote: Vote,
  { assertion: bearer }: WorkspaceCaller,
): Promise<Approval> {
  const { id: approval_id, decision, reason, challenge_id, assertion, ifMatch } = vote;
  const client = kernel.as(bearer, { assertApproval, transitionApproval });
  const statement = reason === undefined ? {} : { reason };
  return answerOf('kernel', () =>
    challenge_id === undefined || assertion === undefined
      ? client.transitionApproval({
          params: { approval_id, action: decision },
          body: statement,
          headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
        })
      : client.assertApproval({ params: { approval_id }, body: { decision, challenge_id, assertion, ...statement } }),
  );
}
