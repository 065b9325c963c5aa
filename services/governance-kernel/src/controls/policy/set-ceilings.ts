import { AppError, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, PolicyCeiling } from '@countersign/contracts/governance-kernel';
import { definedMembers } from '@countersign/crypto';
import { canonicalRule } from '@countersign/policy';
import type { z } from 'zod';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted } from '../../ledger/control.ts';
import { compileBundle } from './compile.ts';
import type { Activation, Policies } from './policies.ts';
import { policyCeilings, wantedCeilings, type CeilingsReader, type CeilingsRow } from './policy-ceilings.ts';
import { policyHeads } from './policy-heads.ts';
import { receiptTenant } from './receipt-tenant.ts';
import { risingMove } from './rising-version.ts';
import { settingStatement, type SettingDeps } from './setting-statement.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

type Deps = SettingDeps & { policies: Pick<Policies, 'prepare' | 'statementIn'> };

type Ceilings = {
  tenant: string;
  version: number;
  rules: readonly z.infer<typeof PolicyCeiling>[];
  needsDecision: boolean;
  setBy: PrincipalId;
  /** A bundle with these rules, to be activated together with them. */
  activation: Activation | null;
  /** Throws when the current ceilings may not be replaced. */
  assertMatch(current: CeilingsRow | null): void;
};

/**
 * Sets the ceilings of a tenant and seals them, together with the activation if there is one, or confirms equal
 * ceilings. If the active bundle lacks a ceiling, all calls under it are denied. Throws INVALID_REQUEST,
 * CEILING_MISSING, PERMISSION_DENIED, DECISION_REQUIRED, ILLEGAL_TRANSITION.
 */
export async function setCeilings(deps: Deps, ceilings: Ceilings): Promise<CeilingsRow> {
  const { tenant, activation } = ceilings;
  if (ceilings.needsDecision && tenant === '*')
    throw new AppError('INVALID_REQUEST', 'needs_decision cannot be set for all tenants (*). Name one tenant', {
      param: 'needs_decision',
    });
  const rules = [...ceilings.rules].sort((a, b) => (a.id < b.id ? -1 : 1));
  await assertCompiles(deps, ceilings.rules);
  const prepared = activation === null ? null : await deps.policies.prepare(activation);
  const nowMs = deps.clock().getTime();
  const { version, needsDecision, setBy } = ceilings;
  const row = { tenant, version, rules: rules.map(canonicalRule), needsDecision, setBy, updatedAtMs: nowMs };
  const chain = { tenant: receiptTenant(tenant), session: ownSession('policy') };
  return await deps.ledger.submit({
    chain,
    wants: prepared?.wants ?? [wanted(policyHeads, tenant), ...wantedCeilings(tenant)],
    conclude: (batch) => {
      const current = batch.row(policyCeilings, tenant);
      const isSame = () =>
        current?.rules.join('\n') === row.rules.join('\n') && current.needsDecision === needsDecision;
      const move = risingMove(current, { version }, isSame);
      if (move === 'set') ceilings.assertMatch(current);
      if (needsDecision && prepared === null) assertOwnBundle(batch, tenant);
      const statement = prepared === null ? null : deps.policies.statementIn(batch, prepared, under(batch, row));
      if (move === 'set') {
        const setting = { version, rules: rules.map(definedMembers), needs_decision: needsDecision, set_by: setBy };
        const resource = `policy_ceilings:${tenant}`;
        const stated = { ...chain, by: setBy, nowMs, action: 'policy.ceiling', resource, setting } as const;
        batch.seal(settingStatement(deps, stated), () => ({ changes: [put(policyCeilings, row)] }));
      }
      statement?.make();
      return () => {
        statement?.learn();
        return move === 'set' || current === null ? row : current;
      };
    },
  });
}

/**
 * A tenant without its own bundle uses the bundle of all tenants, which changes without a decision of this tenant. A
 * required decision would then protect nothing.
 */
function assertOwnBundle(batch: LedgerBatch, tenant: string): void {
  if (batch.row(policyHeads, tenant) !== null) return;
  throw new AppError(
    'ILLEGAL_TRANSITION',
    'The tenant has no bundle of its own, so there are no changes to decide. Activate a bundle first',
    {
      param: 'needs_decision',
    },
  );
}

/** Throws INVALID_REQUEST, whose `param` is the place of the fault in the request. */
async function assertCompiles({ provider }: Deps, rules: Ceilings['rules']): Promise<void> {
  const bundle: PolicyBundle = {
    format: 'countersign/policy.v1',
    name: 'ceilings',
    version: '1',
    rules: [],
    tests: [],
  };
  await compileBundle(provider, { ...bundle, rules: [...rules] }, '');
}

/** Reads the ceilings as they will be after the change. */
function under(batch: LedgerBatch, row: CeilingsRow): CeilingsReader {
  return { row: (control, tenant) => (tenant === row.tenant ? row : batch.row(control, tenant)) };
}
