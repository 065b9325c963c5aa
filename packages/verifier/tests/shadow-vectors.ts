import { allowed, chainOfRecords, exportOf, hashOf, recordOf } from './chain-fixture.ts';
import type { Members } from './chain-fixture.ts';
import { invalid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const allows = {
  ...{ lane: 'canary', policy_hash: hashOf('draft'), verdict: 'ALLOW', reason_code: 'ALLOWED' },
  ...{ matched_rules: ['mail'], rules_omitted: 0, fault: null },
};
const silent = { verdict: null, reason_code: null, matched_rules: [] };

/** Results of shadow lanes that no kernel writes, with valid hashes and signatures. */
export async function shadowVectors(): Promise<Record<string, ReceiptVector>> {
  const saying = async (what: string, shadow: Members[], changes: Members = {}, code = 'MALFORMED') =>
    invalid(what, code, await exportOf([chainOfRecords([recordOf(1, { shadow, ...changes })])]));
  const call = recordOf(1, { ...allowed, dispatched_by: 'kernel' });
  return {
    'invalid/shadow-of-a-call-of-the-kernel': invalid(
      'A decision in shadow on a call that the kernel executes.',
      'MALFORMED',
      await exportOf([chainOfRecords([call], { 1: { shadow: true } })]),
      0,
    ),
    'invalid/shadow-verdict-of-another-reason': await saying(
      'A draft that allows for a reason of denials.',
      [{ ...allows, reason_code: 'POLICY_DENIED' }],
      {},
      'VERDICT_MISMATCH',
    ),
    'invalid/shadow-verdict-and-fault': await saying('A draft that failed and says a verdict.', [
      { ...allows, fault: 'failed' },
    ]),
    'invalid/shadow-silent-without-fault': await saying('A draft that says nothing, and nothing says why.', [
      { ...allows, ...silent },
    ]),
    'invalid/shadow-rules-of-a-fault': await saying('A draft that was not ready and names rules.', [
      { ...allows, ...silent, matched_rules: ['mail'], fault: 'not_ready' },
    ]),
    'invalid/shadow-lane-twice': await saying('One lane that says two things.', [
      allows,
      { ...allows, verdict: 'DENY', reason_code: 'POLICY_DENIED' },
    ]),
    'invalid/shadow-rules-left-out': await saying('A draft whose rules are left out although there is room.', [
      { ...allows, rules_omitted: 1 },
    ]),
  };
}
