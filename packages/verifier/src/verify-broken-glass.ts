import { BrokenGlassEvidence, brokenGlassMs } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

/**
 * Checks broken glass: a kind of its own, with the approval, a reason, a credential that proves a person, and an end
 * that is near. Nothing else calls itself that. Throws {@link VerificationError} `MALFORMED`, `APPROVAL_CONTRADICTED`.
 */
export function assertBrokenGlass({ kind, intent, approval_id, created_at }: BoundaryRecord): void {
  // The action of a decision is its caller's own word.
  if (kind !== 'decision' && (intent.action === 'approval.break_glass') !== (kind === 'break_glass'))
    throw new VerificationError('MALFORMED', 'broken glass does not say of itself what it is');
  if (kind !== 'break_glass') return;
  if (approval_id === null) throw new VerificationError('MALFORMED', 'broken glass names no approval');
  const { expires_at } = parseUntrusted(BrokenGlassEvidence, intent.facts, 'broken glass');
  if (Date.parse(expires_at) > Date.parse(created_at) + brokenGlassMs)
    throw new VerificationError('APPROVAL_CONTRADICTED', `broken glass lets a call go until ${expires_at}`);
}
