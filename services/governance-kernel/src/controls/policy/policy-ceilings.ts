import type { PrincipalId } from '@countersign/contracts';
import { missingCeiling, type CompiledPolicy } from '@countersign/policy';
import { bool, columnsOf, instantMs, integer, selectByKey, text, texts } from '../../ledger/columns.ts';
import { wanted, type Control, type Wanted } from '../../ledger/control.ts';

/** The rules that every bundle of a tenant (or, for `*`, of all tenants) must contain. */
export type CeilingsRow = {
  readonly tenant: string;
  readonly version: number;
  /** Canonical texts, in the order of their ids. */
  readonly rules: readonly string[];
  /**
   * Whether activating a bundle requires a statement that was signed for a decision. Always `false` for `*`, since a
   * decision belongs to one tenant.
   */
  readonly needsDecision: boolean;
  readonly setBy: PrincipalId;
  readonly updatedAtMs: number;
};

export const policyCeilings: Control<string, CeilingsRow> = {
  name: 'policy_ceilings',
  guard: 'epoch',
  ...selectByKey('policy_ceilings', ['tenant_id']),
  ...columnsOf<CeilingsRow>({
    tenant: text('tenant_id'),
    version: integer('version'),
    rules: texts('rules'),
    needsDecision: bool('needs_decision'),
    setBy: text('set_by'),
    updatedAtMs: instantMs('updated_at'),
  }),
  writes: { table: 'policy_ceilings', primaryKey: ['tenant_id'], put: { kind: 'upsert' } },
  keyValues: (tenant) => [tenant],
  keyText: (tenant) => tenant,
  idOf: ({ tenant }) => tenant,
  setsOf: ({ tenant }) => [tenant],
};

export function wantedCeilings(tenant: string): Wanted[] {
  return [wanted(policyCeilings, tenant), wanted(policyCeilings, '*')];
}

export type CeilingsReader = { row(control: typeof policyCeilings, tenant: string): CeilingsRow | null };

/** A ceiling of the tenant, or of all tenants, that this bundle lacks. `null` when it has all of them. */
export function lackedCeiling(batch: CeilingsReader, tenant: string, policy: CompiledPolicy): string | null {
  return missingCeiling(policy, ceilingsInForce(batch, tenant));
}

function ceilingsInForce(batch: CeilingsReader, tenant: string): readonly string[] {
  const own = batch.row(policyCeilings, tenant)?.rules ?? [];
  const ofAll = tenant === '*' ? [] : (batch.row(policyCeilings, '*')?.rules ?? []);
  return ofAll.length === 0 ? own : [...own, ...ofAll];
}
