import type { PolicyFact } from '@countersign/policy';
import type { Confirmations } from './confirmations.ts';
import type { PolicyHead } from './policy-heads.ts';

type Known = { tenant: string; confirmations: Confirmations; policyAgeMaxMs: number; nowMs: number };

/** A bundle that the gate has not compiled is no policy, whatever a head says. */
export function policyFact(head: PolicyHead | null, { tenant, ...known }: Known): PolicyFact {
  if (head === null) return null;
  const { confirmations, nowMs, policyAgeMaxMs } = known;
  return {
    hash: head.hash,
    epoch: head.epoch,
    signature_valid: confirmations.isSigned(head),
    is_newest: confirmations.isNewest(tenant, head),
    age_ms: nowMs - head.confirmedAtMs,
    age_max_ms: policyAgeMaxMs,
  };
}
