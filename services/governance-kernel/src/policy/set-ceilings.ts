import { AppError, type PlainJson, type PrincipalId } from '@countersign/contracts';
import type { PolicyBundle, PolicyCeiling } from '@countersign/contracts/governance-kernel';
import { canonicalRule } from '@countersign/policy';
import type { z } from 'zod';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted } from '../ledger/control.ts';
import { compileBundle } from './compile.ts';
import type { Activation, Policies } from './policies.ts';
import { policyCeilings, wantedCeilings, type CeilingsReader, type CeilingsRow } from './policy-ceilings.ts';
import { policyHeads } from './policy-heads.ts';
import { receiptTenant } from './receipt-tenant.ts';
import { risingMove } from './rising-version.ts';
import { settingStatement, type SettingParts } from './setting-statement.ts';
import { ownSession } from '../ledger/own-sessions.ts';

type Parts = SettingParts & { policies: Pick<Policies, 'prepare' | 'statementIn'> };

type Ceilings = {
  tenant: string;
  version: number;
  rules: readonly z.infer<typeof PolicyCeiling>[];
  needsDecision: boolean;
  setBy: PrincipalId;
  /** A bundle that holds them, to be put into force with them. */
  activation: Activation | null;
  /** Throws when what stands may not be replaced. */
  assertMatch(standing: CeilingsRow | null): void;
};

/**
 * Sets the ceilings of a tenant and seals that, together with the activation that comes along, or confirms what stands. An active
 * bundle that lacks one of them is in force no longer: its tenant is denied. Throws INVALID_REQUEST, CEILING_MISSING, PERMISSION_DENIED,
 * DECISION_REQUIRED, ILLEGAL_TRANSITION.
 */
export async function setCeilings(parts: Parts, asked: Ceilings): Promise<CeilingsRow> {
  const { tenant, activation } = asked;
  if (asked.needsDecision && tenant === '*')
    throw new AppError('INVALID_REQUEST', 'A decision is one of a tenant, and * is none', { param: 'needs_decision' });
  const rules = [...asked.rules].sort((one, other) => (one.id < other.id ? -1 : 1));
  await assertCompiles(parts, asked.rules);
  const prepared = activation === null ? null : await parts.policies.prepare(activation);
  const nowMs = parts.clock().getTime();
  const { version, needsDecision, setBy } = asked;
  const row = { tenant, version, rules: rules.map(canonicalRule), needsDecision, setBy, updatedAtMs: nowMs };
  const chain = { tenant: receiptTenant(tenant), session: ownSession('policy') };
  return await parts.ledger.submit({
    chain,
    wants: prepared?.wants ?? [wanted(policyHeads, tenant), ...wantedCeilings(tenant)],
    conclude: (batch) => {
      const standing = batch.row(policyCeilings, tenant);
      const isSame = () =>
        standing?.rules.join('\n') === row.rules.join('\n') && standing.needsDecision === needsDecision;
      const move = risingMove(standing, { version }, isSame);
      if (move === 'set') asked.assertMatch(standing);
      if (needsDecision && prepared === null) assertOwnBundle(batch, tenant);
      const statement = prepared === null ? null : parts.policies.statementIn(batch, prepared, under(batch, row));
      if (move === 'set') {
        const setting = { version, rules: rules.map(plain), needs_decision: needsDecision, set_by: setBy };
        const resource = `policy_ceilings:${tenant}`;
        const said = { ...chain, by: setBy, nowMs, action: 'policy.ceiling', resource, setting } as const;
        batch.seal(settingStatement(parts, said), () => ({ changes: [put(policyCeilings, row)] }));
      }
      statement?.make();
      return () => {
        statement?.learn();
        return move === 'set' || standing === null ? row : standing;
      };
    },
  });
}

/** Who is under the bundle of all tenants is given another one without being asked, so a promise to be asked would be none. */
function assertOwnBundle(batch: LedgerBatch, tenant: string): void {
  if (batch.row(policyHeads, tenant) !== null) return;
  throw new AppError('ILLEGAL_TRANSITION', 'The tenant has no bundle of its own, whose changes could be decided', {
    param: 'needs_decision',
  });
}

/** Under their places in the request. */
async function assertCompiles({ provider }: Parts, rules: Ceilings['rules']): Promise<void> {
  const bundle: PolicyBundle = {
    format: 'countersign/policy.v1',
    name: 'ceilings',
    version: '1',
    rules: [],
    tests: [],
  };
  await compileBundle(provider, { ...bundle, rules: [...rules] }, '');
}

/** The ceilings as they will be. */
function under(batch: LedgerBatch, row: CeilingsRow): CeilingsReader {
  return { row: (control, tenant) => (tenant === row.tenant ? row : batch.row(control, tenant)) };
}

const plain = (rule: object) => JSON.parse(JSON.stringify(rule)) as PlainJson; // a rule that was parsed from JSON
