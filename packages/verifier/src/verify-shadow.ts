import { reasonCodes } from '@countersign/contracts';
import { shadowRulesMax } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, ReceiptPayload, ShadowVerdict } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

type Mode = Pick<ReceiptPayload, 'shadow'>;

/**
 * Checks the verdicts of drafts: only in a decision, and each lane once. Kernels execute no call that was only
 * evaluated (`shadow: true`). `record_hash` covers them. Each must be an
 * entry that a kernel can write: a verdict with its own reason, or only a fault. Its `policy_hash` identifies the
 * draft, as in the record of `policy.shadow` that set the lane. Throws {@link VerificationError} `MALFORMED`,
 * `VERDICT_MISMATCH`.
 */
export function assertShadow({ kind, shadow, dispatched_by: by }: BoundaryRecord, payload: Mode): void {
  if (payload.shadow && (kind !== 'decision' || by === 'kernel'))
    throw malformed('a receipt in shadow must be a decision on a call that the kernel does not execute');
  if (kind !== 'decision' && shadow.length > 0)
    throw malformed('only the record of a decision may have shadow verdicts');
  for (const [at, statement] of shadow.entries()) {
    const before = shadow[at - 1];
    if (before !== undefined && !(before.lane < statement.lane))
      throw malformed('the lanes must be in order, each once');
    assertSaying(statement);
  }
}

function assertSaying({ lane, verdict, reason_code, matched_rules, rules_omitted, fault }: ShadowVerdict): void {
  const isSilent = verdict === null && reason_code === null && matched_rules.length === 0 && rules_omitted === 0;
  if (fault === null ? verdict === null || reason_code === null : !isSilent)
    throw malformed(`the lane ${lane} must have either a verdict with its reason, or a fault`);
  if (reason_code !== null && reasonCodes[reason_code].verdict !== verdict)
    throw new VerificationError(
      'VERDICT_MISMATCH',
      `${reason_code} is not a reason for ${verdict} in the lane ${lane}`,
    );
  if (rules_omitted > 0 && matched_rules.length < shadowRulesMax)
    throw malformed(`the lane ${lane} omits rules although there is room for more`);
}

function malformed(message: string): VerificationError {
  return new VerificationError('MALFORMED', message);
}
