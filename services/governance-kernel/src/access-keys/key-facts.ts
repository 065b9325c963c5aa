import { AppError, toolOfFunctionName } from '@countersign/contracts';
import type { Fact, Facts, IdentityFact, Intent } from '@countersign/policy';
import type { Caller } from '../call/governed-call.ts';
import { toolsNamed } from '../call/tools-named.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { accessKeys, hasEnded, type AccessKeyRow } from './access-keys.ts';

export function wantedKey({ accessKey }: Pick<Caller, 'accessKey'>): Wanted[] {
  return accessKey === undefined ? [] : [wanted(accessKeys, accessKey)];
}

/** Who calls: whoever came with a key is judged by that key as it is now. */
export function identityFact(batch: LedgerBatch, caller: Caller, nowMs: number): Fact<IdentityFact> {
  if (caller.accessKey === undefined) return { state: 'known', value: caller.identity };
  const key = batch.row(accessKeys, caller.accessKey);
  return { state: 'known', value: { kind: 'agent', agent_id: caller.accessKey, status: statusOf(key, caller, nowMs) } };
}

function statusOf(key: AccessKeyRow | null, { tenant, principal }: Caller, nowMs: number) {
  if (key?.tenant !== tenant || key.principal !== principal || key.kind !== 'agent') return 'unknown';
  return hasEnded(key, nowMs) ? 'revoked' : 'active';
}

/** Throws CREDENTIALS_INVALID unless this key of this approver is good at the moment of the commit. */
export function requireApproverKey(
  batch: LedgerBatch,
  { id, tenant, principal }: Pick<AccessKeyRow, 'id' | 'tenant' | 'principal'>,
  nowMs: number,
): void {
  const key = batch.row(accessKeys, id);
  const isTheirs = key?.tenant === tenant && key.principal === principal && key.kind === 'approver';
  if (isTheirs && !hasEnded(key, nowMs)) return;
  throw new AppError('CREDENTIALS_INVALID', 'The approver key has expired or was revoked');
}

/** A key that was made for certain tools calls no other, lets no provider run one, and does nothing that names no tool but ask a model. */
export function scopesFact(batch: LedgerBatch, { accessKey }: Caller, intent: Intent): Facts['scopes'] {
  const granted = accessKey === undefined ? null : (batch.row(accessKeys, accessKey)?.tools ?? null);
  const tools = toolsNamed(intent).map(toolOfFunctionName);
  const required = tools.length === 0 && intent.action !== 'model.call' ? [intent.action] : tools;
  if (granted === null || required.length === 0) return { state: 'not_applicable' };
  return { state: 'known', value: { required, granted: [...granted] } };
}
