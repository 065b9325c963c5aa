import { AppError, type Digest } from '@countersign/contracts';
import type {
  BoundaryRecord,
  GateOutcome,
  RecordedFence,
  RecordedIdentity,
} from '@countersign/contracts/governance-kernel';
import { canonicalNumber, canonicalString as quoted, type CryptoProvider } from '@countersign/crypto';
import { digest } from './hashes.ts';
import { cappedFactsMember, demandText, factsText } from './judged-hash.ts';
import { listText, optionalMember, numberOrNull, plain, plainOrNull, quotedOrNull, truth } from './json-text.ts';

/**
 * Maximum length of a record without its hash, in UTF-16 code units. Its UTF-8 has at most three times as many bytes,
 * which readers of exports accept in one line. Real calls stay far below.
 * Even a request of 1 MiB fits with longer forms of its numbers, the names of all read facts, and all rules of a
 * bundle.
 */
const recordCharactersMax = 2_600_000;

/** A record without its hash. */
export type RecordMembers = Omit<BoundaryRecord, 'record_hash'>;

/**
 * The canonical text of the record with its hash, and the hash. `hash` is the digest of the text without `record_hash`.
 * Throws like `canonicalize`, and PAYLOAD_TOO_LARGE.
 */
export function sealRecord(provider: CryptoProvider, record: RecordMembers): { text: string; hash: Digest } {
  const before = membersBeforeHash(record);
  const after = membersAfterHash(record);
  if (before.length + after.length > recordCharactersMax)
    throw new AppError(
      'PAYLOAD_TOO_LARGE',
      'The policy reads more facts of this call than a boundary record can contain. Send fewer or shorter arguments',
    );
  const hash = digest(provider, before + after);
  return { text: `${before}"record_hash":"${hash}",${after}`, hash };
}

/** The expected `record_hash`: the hash of all other members. */
export function recordHash(provider: CryptoProvider, record: RecordMembers): Digest {
  return digest(provider, membersBeforeHash(record) + membersAfterHash(record));
}

// Members are in the order of RFC 8785 §3.2.3. A generic serialiser would sort them again for each decision.

function membersBeforeHash(record: RecordMembers): string {
  return (
    `{"approval_id":${plainOrNull(record.approval_id)},` +
    `"authz_snapshot_hash":${plainOrNull(record.authz_snapshot_hash)},` +
    `"budgets":${listText(record.budgets, budgetText)},` +
    `"created_at":"${plain(record.created_at)}",` +
    `"decision_id":"${plain(record.decision_id)}",` +
    (record.demand === undefined ? '' : `"demand":${demandText(record.demand)},`) +
    optionalMember('dispatched_by', record.dispatched_by) +
    (record.fences === undefined ? '' : `"fences":${listText(record.fences, fenceText)},`) +
    `"gate_roster_hash":"${plain(record.gate_roster_hash)}",` +
    `"gates":${gatesText(record.gates)},` +
    (record.identity === undefined ? '' : `"identity":${identityText(record.identity)},`) +
    `"intent":${intentText(record.intent)},` +
    optionalMember('judged_hash', record.judged_hash) +
    `"kind":"${plain(record.kind)}",` +
    `"matched_rules":${listText(record.matched_rules, quoted)},` +
    `"mcp_server_id":${quotedOrNull(record.mcp_server_id)},` +
    `"policy_epoch":${canonicalNumber(record.policy_epoch)},` +
    `"policy_hash":${plainOrNull(record.policy_hash)},` +
    `"principal_id":${quoted(record.principal_id)},` +
    `"reason_code":"${plain(record.reason_code)}",` +
    `"receipt_id":"${plain(record.receipt_id)}",`
  );
}

function membersAfterHash(record: RecordMembers): string {
  return (
    `"record_id":"${plain(record.record_id)}",` +
    `"sandbox_grant_hash":${plainOrNull(record.sandbox_grant_hash)},` +
    `"session_id":${quoted(record.session_id)},` +
    `"shadow":${listText(record.shadow, shadowText)},` +
    `"tenant_id":"${plain(record.tenant_id)}",` +
    (record.tool_blocked === undefined ? '' : `"tool_blocked":${truth(record.tool_blocked)},`) +
    `"tool_definition_hash":${plainOrNull(record.tool_definition_hash)},` +
    `"type":"${plain(record.type)}",` +
    `"verdict":"${plain(record.verdict)}"}`
  );
}

function budgetText(budget: RecordMembers['budgets'][number]): string {
  return (
    `{"approval_required_above_minor":${numberOrNull(budget.approval_required_above_minor)},` +
    `"budget_id":"${plain(budget.budget_id)}",` +
    `"currency":${quotedOrNull(budget.currency)},` +
    `"egress_remaining_bytes":${numberOrNull(budget.egress_remaining_bytes)},` +
    `"spend_remaining_micros":${quotedOrNull(budget.spend_remaining_micros)},` +
    `"tool_calls_remaining":${numberOrNull(budget.tool_calls_remaining)},` +
    `"writes_remaining":${numberOrNull(budget.writes_remaining)}}`
  );
}

function fenceText({ calls_remaining, epoch, kind, scope }: RecordedFence): string {
  return (
    `{"calls_remaining":${numberOrNull(calls_remaining)},"epoch":${canonicalNumber(epoch)},` +
    `"kind":${quoted(kind)},"scope":${quoted(scope)}}`
  );
}

function identityText({ credential, credential_id, credential_state, enrolment }: RecordedIdentity): string {
  return (
    `{"credential":${quoted(credential)},"credential_id":${quotedOrNull(credential_id)},` +
    `"credential_state":${quoted(credential_state)},"enrolment":${quoted(enrolment)}}`
  );
}

function intentText(intent: RecordMembers['intent']): string {
  return (
    `{"action":${quoted(intent.action)},` +
    `"args_hash":"${plain(intent.args_hash)}",` +
    cappedFactsMember(intent.capped_facts) +
    `"effect_level":"${plain(intent.effect_level)}",` +
    `"facts":${factsText(intent.facts)},` +
    `"intent_hash":"${plain(intent.intent_hash)}",` +
    `"resource":${quotedOrNull(intent.resource)},` +
    `"tool":${quotedOrNull(intent.tool)}}`
  );
}

/** The canonical text of the outcomes of the gates. */
export function gatesText(gates: readonly GateOutcome[]): string {
  return listText(gates, gateText);
}

function gateText({ gate, outcome, reason_code, detail }: GateOutcome): string {
  if (detail === undefined && reason_code === undefined)
    return `{"gate":"${plain(gate)}","outcome":"${plain(outcome)}"}`;
  const detailText = detail === undefined ? '' : `"detail":${quoted(detail)},`;
  const code = reason_code === undefined ? '' : `,"reason_code":"${plain(reason_code)}"`;
  return `{${detailText}"gate":"${plain(gate)}","outcome":"${plain(outcome)}"${code}}`;
}

function shadowText(entry: RecordMembers['shadow'][number]): string {
  return (
    `{"fault":${plainOrNull(entry.fault)},"lane":"${plain(entry.lane)}",` +
    `"matched_rules":${listText(entry.matched_rules, quoted)},` +
    `"policy_hash":"${plain(entry.policy_hash)}",` +
    `"reason_code":${plainOrNull(entry.reason_code)},` +
    `"rules_omitted":${canonicalNumber(entry.rules_omitted)},` +
    `"verdict":${plainOrNull(entry.verdict)}}`
  );
}
