import type { PolicyFact } from '@countersign/policy';
import type { LoadedPolicy } from './loaded-policy.ts';
import type { PolicyHead } from './policy-heads.ts';

type Loaded = { policy: LoadedPolicy | null; policyAgeMaxMs: number; nowMs: number };

export function policyFact(head: PolicyHead | null, { policy, policyAgeMaxMs, nowMs }: Loaded): PolicyFact {
  if (head === null || policy === null) return null;
  return {
    hash: head.hash,
    epoch: head.epoch,
    signature_valid: policy.signatureValid,
    age_ms: Math.max(0, nowMs - head.confirmedAtMs),
    age_max_ms: policyAgeMaxMs,
  };
}
