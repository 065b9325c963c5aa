import {
  appendTo,
  chainOfRecords,
  exportOf,
  hashOf,
  idOf,
  outcomeOf,
  recordOf,
  settledChain,
  traceOf,
} from './chain-fixture.ts';
import type { Chain, Changes, Members } from './chain-fixture.ts';
import { defective, invalid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

/**
 * Receipts with valid hashes, signatures and chains, whose contents contradict each other. Only a verifier that
 * recomputes the contents detects them.
 */
export async function contradictions(): Promise<Record<string, ReceiptVector>> {
  const approval = idOf('apr', 7);
  const about = async (code: string, what: string, chain: Chain, index?: number) =>
    invalid(what, code, await exportOf([chain]), index);
  const record = (changes: Members, signed: Changes = {}) => chainOfRecords([recordOf(1, changes)], { 1: signed });
  const link = 'LINK_MISMATCH';
  return {
    'invalid/intent-of-another-call': await about(
      'INTENT_HASH_MISMATCH',
      'An intent_hash that is not of the call which the record names.',
      record({ intent: { intent_hash: hashOf('another call') } }),
    ),
    'invalid/record-of-another-tool': await about(
      'INTENT_HASH_MISMATCH',
      'A record that names another tool than its intent_hash.',
      record({ intent: { tool: 'mail.read' } }),
    ),
    ...(await judgedOtherwise()),
    'invalid/roster-of-other-gates': await about(
      'ROSTER_HASH_MISMATCH',
      'A gate_roster_hash that is not of the gates in the trace.',
      record({ gate_roster_hash: hashOf(['rules', 'budget']) }),
    ),
    'invalid/verdict-against-the-trace': await about(
      'VERDICT_MISMATCH',
      'An allow whose trace holds a gate that denied.',
      record({ verdict: 'ALLOW', reason_code: 'ALLOWED' }),
    ),
    'invalid/reason-against-the-trace': await about(
      'VERDICT_MISMATCH',
      'A denial for another reason than the gate that denied gave.',
      record({ reason_code: 'EGRESS_BLOCKED' }),
    ),
    'invalid/decision-without-trace': await about(
      'VERDICT_MISMATCH',
      'A decision that no gate made.',
      record({ gates: [] }),
    ),
    'invalid/record-of-another-ulid': await about(
      link,
      'A record whose id does not share the ULID of its receipt.',
      record({ record_id: idOf('rec', 2) }),
    ),
    'invalid/record-of-another-time': await about(
      link,
      'A receipt that was issued at another time than its record tells.',
      record({}, { issued_at: '2026-02-01T00:00:02.000Z' }),
    ),
    'invalid/approval-only-in-record': await about(
      link,
      'A record that names an approval which its receipt hides.',
      chainOfRecords([recordOf(1, { approval_id: approval })], { 1: { approval_id: undefined } }),
    ),
    'invalid/approval-only-in-receipt': await about(
      link,
      'A receipt that names an approval which its record does not know.',
      record({}, { approval_id: approval }),
    ),
    'invalid/decision-of-another-ulid': await about(
      link,
      'A receipt whose decision_id does not share its ULID.',
      record({ decision_id: idOf('dec', 2) }),
      0,
    ),
    'invalid/decision-with-outcome': await about(
      link,
      'A decision that claims an outcome.',
      record({}, { outcome: 'completed' }),
      0,
    ),
    'invalid/decision-with-output': await about(
      link,
      'A decision that claims an output.',
      record({}, { output_hash: hashOf('output') }),
      0,
    ),
    'invalid/decision-that-settles': await about(
      link,
      'A decision that claims to settle a receipt.',
      record({}, { decision_receipt_id: idOf('rcp', 1) }),
      0,
    ),
  };
}

/** A judged_hash that does not match the members of the record. */
async function judgedOtherwise(): Promise<Record<string, ReceiptVector>> {
  const { judged_hash = null } = recordOf(1);
  const judged = async (about: string, changes: Members) =>
    invalid(about, 'JUDGED_HASH_MISMATCH', await exportOf([chainOfRecords([recordOf(1, changes)])]));
  const spend = { spend_micros: '999999999000000' };
  return {
    'invalid/judged-with-another-demand': await judged('A record that takes more than its judged_hash covers.', {
      demand: spend,
      judged_hash,
    }),
    'invalid/judged-with-another-effect': await judged('A record that is graver than its judged_hash covers.', {
      intent: { effect_level: 'E4' },
      judged_hash,
    }),
    'invalid/judged-with-another-fact': await judged(
      'A record whose policy read what its judged_hash does not cover.',
      {
        intent: { facts: { 'args.to': 'another@example.org' } },
        judged_hash,
      },
    ),
    'invalid/announcement-that-judges': await judged('An announcement that claims a judged_hash.', {
      ...{ kind: 'approval', verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [] },
      judged_hash,
    }),
  };
}

export async function brokenOutcomes(): Promise<Record<string, ReceiptVector>> {
  const about = async (what: string, chain: Chain, { code = 'LINK_MISMATCH', index = 1 } = {}) =>
    invalid(what, code, await exportOf([chain]), index);
  const outcome = (changes: Changes) => settledChain({ outcome: changes });
  const unknown = outcome({ outcome: 'uncertain' });
  const repeated = settledChain();
  appendTo(repeated.receipts, { ...outcomeOf(repeated.records[0] ?? {}), receipt_id: idOf('rcp', 901) });
  const orphan = chainOfRecords([recordOf(2)]);
  appendTo(orphan.receipts, outcomeOf(recordOf(1)));
  const denied = { verdict: 'DENY', reason_code: 'POLICY_DENIED', gates: traceOf({ rules: gateThatDenies }) };
  return {
    'invalid/outcome-of-nothing': await about(
      'An outcome that does not say which receipt it settles.',
      outcome({ decision_receipt_id: undefined }),
    ),
    'invalid/outcome-unsaid': await about(
      'An outcome that does not say how it ended.',
      outcome({ outcome: undefined }),
    ),
    'invalid/outcome-of-another-decision': await about(
      'An outcome whose decision_id and decision_receipt_id name two decisions.',
      outcome({ decision_id: idOf('dec', 2) }),
    ),
    'invalid/outcome-of-absent-decision': await about(
      'An outcome of a decision that its whole chain does not hold.',
      orphan,
    ),
    'invalid/outcome-of-another-record': await about(
      'An outcome that seals another record than its decision.',
      outcome({ record_hash: hashOf('another record') }),
    ),
    'invalid/outcome-of-another-call': await about(
      'An outcome whose arguments are not those that were decided.',
      outcome({ args_hash: hashOf('other arguments') }),
    ),
    'invalid/outcome-of-denied-call': await about(
      'An outcome of a call that was denied.',
      settledChain({ decided: denied }),
    ),
    'invalid/outcome-of-a-proposal': await about(
      'An outcome of a call that was only proposed.',
      settledChain({ decided: { dispatched_by: 'nobody' } }),
    ),
    'invalid/outcome-of-a-call-of-others': await about(
      'An outcome of a call that its caller executes, of which the kernel never hears.',
      settledChain({ decided: { dispatched_by: 'caller' } }),
    ),
    'valid/outcome-uncertain-with-output': defective(
      'An unknown outcome with an output: its issuer is wrong, and it was not changed.',
      await exportOf([unknown]),
      { count: 1, first: String(unknown.receipts[1]?.payload.receipt_id) },
    ),
    'invalid/outcome-repeated': await about('Two outcomes of one decision.', repeated, { code: 'DUPLICATE', index: 2 }),
  };
}

const gateThatDenies = { outcome: 'deny', reason_code: 'POLICY_DENIED' };
