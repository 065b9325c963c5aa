import { reasonCodes } from '@countersign/contracts';
import { shadowRulesMax } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, ShadowVerdict } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

/**
 * Checks the results of drafts: in a decision alone and each lane once. `record_hash` binds them. Here each result must
 * be one that a kernel can have written: a verdict with a reason of its own, or a fault and nothing else. Which draft
 * it was, its `policy_hash` names, as the record of `policy.shadow` that set the lane does. Throws {@link
 * VerificationError} `MALFORMED`, `VERDICT_MISMATCH`.
 */
export function assertShadow({ kind, shadow }: BoundaryRecord): void {
  if (kind !== 'decision' && shadow.length > 0) throw malformed('nothing but a decision is judged by drafts');
  for (const [at, said] of shadow.entries()) {
    const before = shadow[at - 1];
    if (before !== undefined && !(before.lane < said.lane)) throw malformed('each lane speaks once, in their order');
    assertSaying(said);
  }
}

function assertSaying({ lane, verdict, reason_code, matched_rules, rules_omitted, fault }: ShadowVerdict): void {
  const isSilent = verdict === null && reason_code === null && matched_rules.length === 0 && rules_omitted === 0;
  if (fault === null ? verdict === null || reason_code === null : !isSilent)
    throw malformed(`the lane ${lane} has either a verdict with its reason, or a fault`);
  if (reason_code !== null && reasonCodes[reason_code].verdict !== verdict)
    throw new VerificationError('VERDICT_MISMATCH', `${reason_code} is no reason of ${verdict} in the lane ${lane}`);
  if (rules_omitted > 0 && matched_rules.length < shadowRulesMax)
    throw malformed(`the lane ${lane} leaves out rules that have room`);
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', message);
}
