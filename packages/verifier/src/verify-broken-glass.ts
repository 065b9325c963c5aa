import { BrokenGlassEvidence, brokenGlassMs } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Checks a record of break glass. It is a separate kind, with the approval, a reason, a credential that proves a
 * person, and an early end. No other record may have that kind. Throws {@link VerificationError} `MALFORMED`,
 * `APPROVAL_CONTRADICTED`.
 */
export function assertBrokenGlass({ kind, intent, approval_id, created_at }: BoundaryRecord): void {
  // The caller chooses the action of a decision.
  if (kind !== 'decision' && (intent.action === 'approval.break_glass') !== (kind === 'break_glass'))
    throw new VerificationError(
      'MALFORMED',
      'the action approval.break_glass and the kind break_glass must occur together',
    );
  if (kind !== 'break_glass') return;
  if (approval_id === null) throw new VerificationError('MALFORMED', 'the break_glass record names no approval');
  const { expires_at } = parseUntrusted(BrokenGlassEvidence, intent.facts, 'broken glass');
  if (Date.parse(expires_at) > Date.parse(created_at) + brokenGlassMs)
    throw new VerificationError(
      'APPROVAL_CONTRADICTED',
      `the break_glass record allows calls until ${expires_at}, which is too late`,
    );
}
