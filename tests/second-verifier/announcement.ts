import type { Evidence } from './evidence.ts';
import { need } from './fault.ts';
import { isInstant, laterBy, minuteMs } from './forms.ts';
import { assertInWindow } from './keys.ts';
import { assertBeforeCheckpoint, assertLogged } from './log.ts';
import type { Entry, Payload, Proof, Sealed } from './statements.ts';
import type { JsonObject } from './strict-json.ts';

export type Announcement = { payload: Payload; record: Sealed; proof: Proof; facts: JsonObject };

type Expected = { kind: 'head' | 'period'; code: string; notBefore?: string; statesTime: boolean };

/** Checks a statement of the kernel about receipts: a head, a period or the end of a pack (11.2, 11.3). */
export function takeAnnouncement(evidence: Evidence, entry: Entry, expected: Expected): Announcement {
  const { kind, code, notBefore, statesTime } = expected;
  const { receipt, record, proof } = entry;
  const { payload } = receipt;
  need(record !== undefined && proof !== undefined, code, '11.2');
  const key = evidence.takeReceipt(entry);
  assertLogged(entry, key, evidence.checkpoints);
  evidence.takePlace(entry);
  evidence.takeRecord(entry);
  need(payload.kind === kind, code, '11.2');
  const { facts } = record.intent;
  if (statesTime) {
    const { as_of } = facts; // 11.3
    need(isInstant(as_of), code, '11.3');
    assertInWindow(key, as_of);
    need(as_of <= laterBy(payload.issued_at, minuteMs), 'TIME_MISMATCH', '11.3');
    assertBeforeCheckpoint(as_of, proof, evidence.checkpoints); // 9.6
    need(notBefore === undefined || as_of >= notBefore, 'TIME_MISMATCH', '11.3');
  }
  return { payload, record, proof, facts };
}
