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
  /** The kernel's challenge and what the passkey answered; without them the person's word is asked to count. */
  challenge_id?: string | undefined;
  assertion?: PasskeyAssertion | undefined;
  /** The ceremony_hash that was shown, as a header; a passkey has signed it. */
  ifMatch: string | undefined;
};

/** Has the kernel judge a vote: who casts it, by what, and on what they were shown. */
export function castVote({ kernel }: Context, vote: Vote, { assertion: bearer }: WorkspaceCaller): Promise<Approval> {
  const { id: approval_id, decision, reason, challenge_id, assertion, ifMatch } = vote;
  const asked = kernel.as(bearer, { assertApproval, transitionApproval });
  const said = reason === undefined ? {} : { reason };
  return answerOf('kernel', () =>
    challenge_id === undefined || assertion === undefined
      ? asked.transitionApproval({
          params: { approval_id, action: decision },
          body: said,
          headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
        })
      : asked.assertApproval({ params: { approval_id }, body: { decision, challenge_id, assertion, ...said } }),
  );
}
