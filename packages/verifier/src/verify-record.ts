import { BoundaryRecord, SignedReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { digestOf, type CryptoProvider } from '@countersign/crypto';
import { intentHash, judgedHash, payloadOf, receiptOf, recordHash, ulidOf } from '@countersign/receipts';
import { differingMember } from './differing-member.ts';
import { isReceiptOf } from './is-receipt-of.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { assertApprovalMove } from './verify-approval-move.ts';
import { assertApprovalUse } from './verify-approval-use.ts';
import { assertBrokenGlass } from './verify-broken-glass.ts';
import { assertCeremony } from './verify-ceremony.ts';
import { VerificationError } from './verification-error.ts';
import { assertShadow } from './verify-shadow.ts';
import { assertTrace } from './verify-trace.ts';

/**
 * Returns only if every hash in the record is right, the receipt agrees with the record, and the verdict follows from
 * the trace. `verifyReceipt` checks the receipt's own signature. Throws {@link VerificationError}: `MALFORMED`,
 * `RECORD_HASH_MISMATCH`, `INTENT_HASH_MISMATCH`, `JUDGED_HASH_MISMATCH`, `ROSTER_HASH_MISMATCH`, `LINK_MISMATCH`,
 * `VERDICT_MISMATCH`, `APPROVAL_CONTRADICTED`, and for a vote by passkey `ASSERTION_MISMATCH` and `ASSERTION_INVALID`.
 */
export function verifyRecord(record: unknown, receipt: unknown, provider: CryptoProvider): BoundaryRecord {
  const { payload } = parseUntrusted(SignedReceipt, signedPart(receipt), 'receipt');
  return assertRecordOf(payload, record, provider);
}

/** Like `verifyRecord`, for the payload of a verified receipt. */
export function assertRecordOf(payload: ReceiptPayload, record: unknown, provider: CryptoProvider): BoundaryRecord {
  const parsed = parseUntrusted(BoundaryRecord, record, 'record');
  assertParsedRecord(payload, parsed, { provider, text: null });
  return parsed;
}

/** `text`: the canonical text of the record without its hash. `null` when it is unknown. */
type RecordDeps = { provider: CryptoProvider; text: string | null };

/** Like {@link assertRecordOf}, for a parsed record. */
export function assertParsedRecord(
  payload: ReceiptPayload,
  parsed: BoundaryRecord,
  { provider, text }: RecordDeps,
): void {
  assertHash(parsed, text === null ? recordHash(provider, parsed) : digestOf(provider, text));
  assertIntentHash(parsed, provider);
  assertCappedFacts(parsed);
  assertJudgedHash(parsed, provider);
  assertTrace(parsed, provider);
  assertSaysTheSame(parsed, payload);
  assertShadow(parsed, payload);
  assertBrokenGlass(parsed);
  assertApprovalMove(parsed);
  assertApprovalUse(parsed, payload);
  assertCeremony(parsed, provider);
}

/** Throws `RECORD_HASH_MISMATCH`. */
export function assertRecordHash(record: BoundaryRecord, provider: CryptoProvider): void {
  assertHash(record, recordHash(provider, record));
}

function assertHash({ record_hash }: BoundaryRecord, computed: string): void {
  if (computed !== record_hash)
    throw new VerificationError('RECORD_HASH_MISMATCH', 'record_hash is not the hash of the record');
}

function assertIntentHash(record: BoundaryRecord, provider: CryptoProvider): void {
  const { intent, tenant_id: tenant, principal_id: principal, session_id: session } = record;
  const { action, tool, resource, args_hash } = intent;
  const made = intentHash(provider, { tenant, principal, session, action, tool, resource, args_hash });
  if (made !== intent.intent_hash)
    throw new VerificationError('INTENT_HASH_MISMATCH', 'intent_hash is not the hash of the call in the record');
}

/**
 * A fact is either whole or capped. Only decisions have capped facts, and an empty list is omitted. Each meaning
 * therefore has one form.
 */
function assertCappedFacts({ kind, intent: { facts, capped_facts } }: BoundaryRecord): void {
  if (capped_facts === undefined) return;
  const paths = Object.keys(capped_facts);
  if (kind !== 'decision' || paths.length === 0 || paths.some((path) => Object.hasOwn(facts, path)))
    throw new VerificationError('MALFORMED', 'capped_facts contains a value that kernels never write');
}

/** Only decisions have a judged hash. */
function assertJudgedHash({ kind, intent, demand, judged_hash }: BoundaryRecord, provider: CryptoProvider): void {
  const isDecision = kind === 'decision';
  const { intent_hash, effect_level, facts, capped_facts } = intent;
  const made =
    demand === undefined ? undefined : judgedHash(provider, { intent_hash, effect_level, facts, capped_facts, demand });
  if (judged_hash !== made || (made !== undefined) !== isDecision)
    throw new VerificationError(
      'JUDGED_HASH_MISMATCH',
      'judged_hash is not the hash of the intent, effect, demand and facts in the record',
    );
}

function assertSaysTheSame(record: BoundaryRecord, payload: ReceiptPayload): void {
  if (ulidOf(record.record_id) !== ulidOf(record.receipt_id))
    throw new VerificationError('LINK_MISMATCH', 'the record and its receipt do not have the same ULID');
  if (isReceiptOf(record, payload)) return;
  const { shadow, lamport_clock: lamportClock, prev_hash: prevHash } = payload;
  const made = payloadOf(receiptOf(record, { shadow }), record.record_hash, { lamportClock, prevHash });
  const differing = differingMember(made, payload);
  if (differing !== null)
    throw new VerificationError('LINK_MISMATCH', `the record and its receipt differ in ${differing}`);
}

function signedPart(receipt: unknown): unknown {
  if (typeof receipt !== 'object' || receipt === null || !('receipt_hash' in receipt)) return receipt;
  const { receipt_hash: _hash, log_index: _index, ...signed } = receipt as Record<string, unknown>; // parsed strictly by the caller
  return signed;
}
