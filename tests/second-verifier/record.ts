import { need } from './fault.ts';
import { hashOf, ulidOf } from './forms.ts';
import type { Verdicts } from './reason-codes.ts';
import type { Payload, Sealed, Trial } from './statements.ts';
import { canonical, isObject, type Json } from './strict-json.ts';

/** Throws unless the receipt matches the record and the record is consistent (1.6, 3). */
export function assertRecord(payload: Payload, record: Sealed, verdicts: Verdicts): void {
  const { record_hash, ...sealed } = record;
  need(hashOf(sealed) === record_hash, 'RECORD_HASH_MISMATCH', '3.1');
  assertRepeated(payload, record);
  assertIntent(record);
  assertJudged(record);
  assertTrials(record, verdicts);
  const isExecuted = record.kind !== 'decision' || record.dispatched_by === 'kernel';
  need(!payload.shadow || !isExecuted, 'MALFORMED', '3.6');
  const isGlass = record.intent.action === 'approval.break_glass'; // 3.7
  need(record.kind === 'decision' || isGlass === (record.kind === 'break_glass'), 'MALFORMED', '3.7');
}

const equalByName = [
  ...['decision_id', 'kind', 'policy_epoch', 'policy_hash', 'principal_id', 'reason_code', 'receipt_id'],
  ...['record_hash', 'session_id', 'tenant_id', 'verdict'],
];
const ofIntent = ['action', 'args_hash', 'effect_level', 'resource', 'tool'];

function assertRepeated(payload: Payload, record: Sealed): void {
  const code = 'LINK_MISMATCH';
  const ids = [record.record_id, record.decision_id, record.receipt_id].map(ulidOf);
  need(new Set(ids).size === 1, code, '1.6');
  for (const name of equalByName) need(payload[name] === record[name], code, `3.5 ${name}`);
  for (const name of ofIntent) need(payload[name] === record.intent[name], code, `3.5 ${name}`);
  need(payload.issued_at === record.created_at, code, '3.5');
  need(payload['approval_id'] === (record.approval_id ?? undefined), code, '3.5');
  const demand: Json | undefined = record['demand'];
  const spend = isObject(demand) ? (demand['spend_micros'] ?? '0') : '0';
  need(payload['spend_micros'] === (spend === '0' ? undefined : spend), code, '3.5');
}

function assertIntent({ intent, principal_id, session_id, tenant_id }: Sealed): void {
  const { action, args_hash, resource, tool } = intent; // 3.2
  const named = { action, args_hash, principal: principal_id, resource, session: session_id, tenant: tenant_id, tool };
  need(hashOf(named) === intent.intent_hash, 'INTENT_HASH_MISMATCH', '3.2');
}

function assertJudged(record: Sealed): void {
  const isDecision = record.kind === 'decision';
  const { effect_level, facts, intent_hash, capped_facts } = record.intent;
  if (capped_facts !== undefined) {
    need(isDecision && isObject(capped_facts), 'MALFORMED', '3.4');
    const paths = Object.keys(capped_facts);
    need(paths.length > 0 && !paths.some((path) => Object.hasOwn(facts, path)), 'MALFORMED', '3.4');
  }
  need(Object.hasOwn(record, 'judged_hash') === isDecision, 'JUDGED_HASH_MISMATCH', '3.3');
  if (!isDecision) return;
  const { now: _now, ...judged } = facts;
  const { demand } = record;
  const whole = hashOf({ demand, effect_level, facts: judged, intent_hash, capped_facts });
  need(whole === record['judged_hash'], 'JUDGED_HASH_MISMATCH', '3.3');
}

function assertTrials({ kind, shadow }: Sealed, verdicts: Verdicts): void {
  need(kind === 'decision' || shadow.length === 0, 'MALFORMED', '3.6');
  const lanes = shadow.map(({ lane }) => lane);
  need(canonical(lanes) === canonical([...new Set(lanes)].sort()), 'MALFORMED', '3.6');
  for (const trial of shadow) assertTrial(trial, verdicts);
}

function assertTrial({ fault, verdict, reason_code, matched_rules, rules_omitted }: Trial, verdicts: Verdicts): void {
  need(rules_omitted === 0 || matched_rules.length === 16, 'MALFORMED', '3.6');
  if (fault === null) {
    need(verdict !== null && reason_code !== null, 'MALFORMED', '3.6');
    return need(verdicts.get(reason_code) === verdict, 'VERDICT_MISMATCH', '3.6');
  }
  const saysNothing = verdict === null && reason_code === null && matched_rules.length === 0 && rules_omitted === 0;
  need(saysNothing, 'MALFORMED', '3.6');
}
