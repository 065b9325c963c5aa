import { need } from './fault.ts';
import { digestText, sha256, ulidOf } from './forms.ts';
import { assertInWindow, assertSigned, keyFor, type Key } from './keys.ts';
import type { Verdicts } from './reason-codes.ts';
import type { Receipt } from './statements.ts';
import { canonical, type Json } from './strict-json.ts';

/** The digest under which the next receipt of the chain and the log refer to this receipt (2.2). */
export function receiptHash({ payload, signature }: Receipt): string {
  return digestText(sha256('countersign.receipt-hash.v1\n', canonical({ payload, signature })));
}

/** Throws unless a key for receipts signed this receipt and its members agree. Returns the key. */
export function assertReceipt({ payload, signature }: Receipt, keys: Key[], verdicts: Verdicts): Key {
  const key = keyFor(keys, signature, 'receipts'); // 2.3
  assertInWindow(key, payload.issued_at);
  assertSigned(canonical(payload), signature, key); // 2.1
  const isOutcome = payload.kind === 'outcome'; // 2.4
  const has = (name: string) => Object.hasOwn(payload, name);
  need(has('outcome') === isOutcome && has('decision_receipt_id') === isOutcome, 'LINK_MISMATCH', '2.4');
  need(isOutcome || !has('output_hash'), 'LINK_MISMATCH', '2.4');
  const shared: Json | undefined = isOutcome ? payload['decision_receipt_id'] : payload.receipt_id;
  need(typeof shared === 'string' && ulidOf(payload.decision_id) === ulidOf(shared), 'LINK_MISMATCH', '2.4');
  need(verdicts.get(payload.reason_code) === payload.verdict, 'VERDICT_MISMATCH', '2.5');
  return key;
}

/** Whether an early kernel sealed an error for the caller as an output (2.6). */
export function isIssuerDefect({ payload }: Receipt): boolean {
  return payload['outcome'] === 'uncertain' && Object.hasOwn(payload, 'output_hash');
}
