import { need } from './fault.ts';
import { isDigest, isInstant, laterBy, minuteMs } from './forms.ts';
import type { Schemas } from './schema.ts';
import type { Sealed } from './statements.ts';
import { isObject, type Json } from './strict-json.ts';

/** Whether the record is a move of an approval (5.1). */
export function isMove({ kind, intent }: Sealed): boolean {
  return kind === 'break_glass' || (kind === 'approval' && intent.action !== 'approval.request');
}

type Effect = { verdict: string; states: string[] };
// 5.2
const effects: ReadonlyMap<string, Effect> = new Map([
  ['approval.approve', { verdict: 'ALLOW', states: ['pending', 'approved'] }],
  ['approval.break_glass', { verdict: 'ALLOW', states: ['approved'] }],
  ['approval.deny', { verdict: 'DENY', states: ['denied'] }],
  ['approval.revoke', { verdict: 'DENY', states: ['revoked'] }],
  ['approval.expire', { verdict: 'DENY', states: ['expired'] }],
]);
const glassMs = 15 * minuteMs; // 5.8

/** Throws unless the facts and the new state of a move fit its action (5.1, 5.2, 5.8). */
export function assertMove(record: Sealed, schemas: Schemas): void {
  if (!isMove(record)) return;
  assertFacts(record, schemas);
  const { facts, action } = record.intent;
  if (record.kind === 'break_glass') assertGlass(record);
  const effect = effects.get(action);
  if (effect === undefined) return;
  const { verdict, states } = effect;
  need(record.verdict === verdict && states.includes(String(facts['state'])), 'APPROVAL_CONTRADICTED', '5.2');
}

function assertFacts({ intent: { facts } }: Sealed, schemas: Schemas): void {
  const code = 'MALFORMED';
  const { state, approved_judged_hash, approved_scope, approved_preconditions } = facts;
  need(schemas.namesOf('ApprovalState').includes(state ?? null) && isDigest(approved_judged_hash), code, '5.1');
  const isScope = (scope: Json) => /^(?:once|session|until|uses:[1-9]\d*)$/.test(String(scope));
  need(approved_scope === undefined || isScope(approved_scope), code, '5.1');
  need((approved_preconditions ?? null) === null || isObject(approved_preconditions), code, '5.1');
  for (const name of ['approved_expires_at', 'timelock_until'])
    need((facts[name] ?? null) === null || isInstant(facts[name]), code, '5.1');
}

function assertGlass({ approval_id, created_at, intent: { facts } }: Sealed): void {
  const { reason, credential, expires_at } = facts; // 5.8
  need(approval_id !== null && typeof reason === 'string' && reason.trim() !== '', 'MALFORMED', '5.8');
  need(['passkey', 'access_key', 'assertion'].includes(String(credential)), 'MALFORMED', '5.8');
  need((expires_at ?? null) === null || isInstant(expires_at), 'MALFORMED', '5.1');
  const isShort = isInstant(expires_at) && expires_at <= laterBy(created_at, glassMs);
  need(isShort, 'APPROVAL_CONTRADICTED', '5.8');
}
