import type { PolicyFact } from '@countersign/policy';
import type { Confirmations } from './confirmations.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { lackedCeiling, type CeilingsReader } from './policy-ceilings.ts';
import type { PolicyHead } from './policy-heads.ts';

type Known = {
  tenant: string;
  batch: CeilingsReader;
  policy: LoadedPolicy | null;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  nowMs: number;
};

/** A bundle that the gate has not compiled is no policy, whatever a head says. */
export function policyFact(head: PolicyHead | null, { tenant, ...known }: Known): PolicyFact {
  const { batch, policy, confirmations, nowMs, policyAgeMaxMs } = known;
  if (head === null || policy === null) return null;
  return {
    hash: head.hash,
    epoch: head.epoch,
    signature_valid: confirmations.isSigned(head),
    is_newest: confirmations.isNewest(tenant, head),
    missing_ceiling: lackedCeiling(batch, tenant, policy.policy),
    age_ms: nowMs - head.confirmedAtMs,
    age_max_ms: policyAgeMaxMs,
  };
}
