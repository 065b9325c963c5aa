import type { PlainJson, PrincipalId, SessionId } from '@countersign/contracts';
import type { PolicyBundle, PolicyCeiling } from '@countersign/contracts/governance-kernel';
import { canonicalRule } from '@countersign/policy';
import type { z } from 'zod';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put } from '../ledger/control.ts';
import { compileBundle } from './compile.ts';
import type { Activation, Policies } from './policies.ts';
import { policyCeilings, wantedCeilings, type CeilingsReader, type CeilingsRow } from './policy-ceilings.ts';
import { receiptTenant } from './receipt-tenant.ts';
import { risingMove } from './rising-version.ts';
import { settingStatement, type SettingParts } from './setting-statement.ts';

type Parts = SettingParts & { policies: Pick<Policies, 'prepare' | 'statementIn'> };

type Ceilings = {
  tenant: string;
  version: number;
  rules: readonly z.infer<typeof PolicyCeiling>[];
  setBy: PrincipalId;
  /** A bundle that holds them, to be put into force with them. */
  activation: Activation | null;
  /** Throws when what stands may not be replaced. */
  assertMatch(standing: CeilingsRow | null): void;
};

/**
 * Sets the ceilings of a tenant and seals that, together with the activation that comes along, or confirms what stands. An active
 * bundle that lacks one of them is in force no longer: its tenant is denied. Throws INVALID_REQUEST, CEILING_MISSING, PERMISSION_DENIED,
 * ILLEGAL_TRANSITION.
 */
export async function setCeilings(parts: Parts, asked: Ceilings): Promise<CeilingsRow> {
  const { tenant, activation } = asked;
  const rules = [...asked.rules].sort((one, other) => (one.id < other.id ? -1 : 1));
  await assertCompiles(parts, asked.rules);
  const prepared = activation === null ? null : await parts.policies.prepare(activation);
  const nowMs = parts.clock().getTime();
  const { version, setBy } = asked;
  const row: CeilingsRow = { tenant, version, rules: rules.map(canonicalRule), setBy, updatedAtMs: nowMs };
  const chain = { tenant: receiptTenant(tenant), session: 'policy' as SessionId }; // within its schema
  return await parts.ledger.submit({
    chain,
    wants: prepared?.wants ?? wantedCeilings(tenant),
    conclude: (batch) => {
      const standing = batch.row(policyCeilings, tenant);
      const isSame = () => standing?.rules.join('\n') === row.rules.join('\n');
      const move = risingMove(standing, { version }, isSame);
      if (move === 'set') asked.assertMatch(standing);
      const statement = prepared === null ? null : parts.policies.statementIn(batch, prepared, under(batch, row));
      if (move === 'set') {
        const setting = { version, rules: rules.map(plain), set_by: setBy };
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
