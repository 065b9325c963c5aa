import type { PolicyFact } from '@countersign/policy';
import type { Confirmations } from './confirmations.ts';
import type { LoadedPolicy } from './loaded-policy.ts';
import { lackedCeiling, type CeilingsReader } from './policy-ceilings.ts';
import type { PolicyHead } from './policy-heads.ts';

type Basis = {
  tenant: string;
  batch: CeilingsReader;
  policy: LoadedPolicy | null;
  confirmations: Confirmations;
  policyAgeMaxMs: number;
  nowMs: number;
};

/** `null` when no bundle is active, or when none is compiled in this kernel. */
export function policyFact(head: PolicyHead | null, basis: Basis): PolicyFact {
  const { tenant, batch, policy, confirmations, nowMs, policyAgeMaxMs } = basis;
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
