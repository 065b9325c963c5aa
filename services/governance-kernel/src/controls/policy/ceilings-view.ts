import { PolicyCeilings } from '@countersign/contracts/governance-kernel';
import type { CeilingsRow } from './policy-ceilings.ts';

export function ceilingsView({ tenant, version, rules, needsDecision, setBy, updatedAtMs }: CeilingsRow) {
  return PolicyCeilings.parse({
    tenant_id: tenant,
    version,
    rules: rules.map((text) => JSON.parse(text) as unknown), // canonical texts of this kernel
    needs_decision: needsDecision,
    set_by: setBy,
    updated_at: new Date(updatedAtMs).toISOString(),
  });
}
