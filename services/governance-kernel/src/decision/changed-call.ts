import type { LedgerBatch } from '../ledger/batch.ts';
import type { PreparedCall } from './known-call.ts';

// Copies of prepared calls. Both are rare.

/** The chain may be ahead of this kernel's clock, so expiry is judged at the instant of the receipt. */
export function atIssue(batch: LedgerBatch, prepared: PreparedCall): PreparedCall {
  const { caller, session } = prepared.call;
  const nowMs = batch.issuedMs({ tenant: caller.tenant, session }, prepared.nowMs);
  return nowMs === prepared.nowMs ? prepared : { ...prepared, nowMs };
}

/** A new denial is sealed without the key, under which the earlier answer stays stored. */
export function withoutKey(prepared: PreparedCall): PreparedCall {
  return { ...prepared, call: { ...prepared.call, idempotency: undefined } };
}
