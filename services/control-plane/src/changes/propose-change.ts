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
  /** The kind of object in one word: its decisions are in the chain `console:<object>`. */
  object: string;
  /** The change, with the hashes of everything that was shown: approval and receipt bind exactly this. */
  resource: string;
  effectLevel: EffectLevel;
  /** The same key is answered with the same decision, so what was interrupted goes on with it. */
  key: string;
};

/**
 * Has the kernel decide a change, as the person who makes it, and answers with the ALLOW. Throws POLICY_DENIED and APPROVAL_NEEDED, which
 * name the decision and its receipt, and GOVERNANCE_UNAVAILABLE.
 */
export async function proposeChange(
  { kernel }: Pick<Context, 'kernel'>,
  { action, object, resource, effectLevel, key }: Change,
  { assertion }: Pick<WorkspaceCaller, 'assertion'>,
): Promise<DecisionReply> {
  const session_id = `console:${object}`;
  const body = { action, resource, effect_level: effectLevel, session_id } as EvaluateRequest; // its defaults are the schema's
  const headers = { 'idempotency-key': key };
  const decision = await answerOf('kernel', () => kernel.as(assertion, { evaluate }).evaluate({ body, headers }));
  if (decision.allow) return decision;
  const { verdict, reason_code, decision_id, receipt_id, approval, reason } = decision;
  const told = { reason_code, decision_id, receipt_id };
  if (verdict !== 'ESCALATE' || approval === undefined)
    throw new AppError('POLICY_DENIED', `The policy denies ${action}: ${reason}`, { details: told });
  throw new AppError('APPROVAL_NEEDED', `The policy requires another person to approve ${action}: ${reason}`, {
    details: { ...told, approval_id: approval.approval_id, expires_at: approval.expires_at },
  });
}
