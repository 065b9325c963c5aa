import { AppError, type EffectLevel } from '@countersign/contracts';
import {
  evaluate,
  type DecisionReply,
  type EvaluateRequest,
  type GovernedChange,
} from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';

type Change = {
  action: GovernedChange;
  /** The kind of object in one word. Its decisions are in the chain `console:<object>`. */
  object: string;
  /** The change, with the hashes of everything that was shown. Approval and receipt cover exactly this. */
  resource: string;
  effectLevel: EffectLevel;
  /** The Idempotency-Key. The same key gets the same decision, so an interrupted request can continue with it. */
  key: string;
};

/**
 * Requests a decision of the kernel about a change, as the person who makes it, and returns the ALLOW. Throws
 * POLICY_DENIED and APPROVAL_NEEDED, which contain the IDs of the decision and its receipt, and GOVERNANCE_UNAVAILABLE.
 */
export async function proposeChange(
  { kernel }: Pick<Context, 'kernel'>,
  { action, object, resource, effectLevel, key }: Change,
  { assertion }: Pick<WorkspaceCaller, 'assertion'>,
): Promise<DecisionReply> {
  const session_id = `console:${object}`;
  const body = { action, resource, effect_level: effectLevel, session_id } as EvaluateRequest; // other members have defaults
  const headers = { 'idempotency-key': key };
  const decision = await answerOf('kernel', () => kernel.as(assertion, { evaluate }).evaluate({ body, headers }));
  if (decision.allow) return decision;
  const { verdict, reason_code, decision_id, receipt_id, approval, reason } = decision;
  const decided = { reason_code, decision_id, receipt_id };
  if (verdict !== 'ESCALATE' || approval === undefined)
    throw new AppError('POLICY_DENIED', `The policy denies ${action}: ${reason}`, { details: decided });
  throw new AppError('APPROVAL_NEEDED', `The policy requires another person to approve ${action}: ${reason}`, {
    details: { ...decided, approval_id: approval.approval_id, expires_at: approval.expires_at },
  });
}
