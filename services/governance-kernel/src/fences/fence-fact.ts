import type { FenceFact } from '@countersign/policy';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { fences } from './fences.ts';

type Fenced = { tenant: TenantId; principal: PrincipalId };

/** The scopes of fences that could stop this caller. */
export function fenceScopes({ tenant, principal }: Fenced): string[] {
  return ['system', `tenant:${tenant}`, `agent:${tenant}:${principal}`];
}

export function fenceFact(batch: LedgerBatch, caller: Fenced): FenceFact {
  const [system, tenant, agent] = fenceScopes(caller).map((scope) => batch.row(fences, scope)?.kind);
  const kinds = [system, tenant, agent];
  return {
    // A fence that nobody knows how to read stops everything rather than nothing.
    frozen: system === 'quarantine' || kinds.some((kind) => kind === 'freeze' || isUnknownFence(kind)),
    tenant_quarantined: tenant === 'quarantine',
    agent_quarantined: agent === 'quarantine',
    throttled: kinds.includes('throttle'),
  };
}

const knownFences = new Set(['freeze', 'quarantine', 'throttle']);

function isUnknownFence(kind: string | undefined): boolean {
  return kind !== undefined && !knownFences.has(kind);
}
