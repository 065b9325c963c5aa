import { allowed, chainOfRecords, exportOf, idOf, recordOf, traceOf } from './chain-fixture.ts';
import type { Members } from './chain-fixture.ts';
import { invalid, valid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const reportOf = (changes: Members) => exportOf([chainOfRecords([recordOf(1, { ...allowed, ...changes })])]);
const fence = (kind: string, calls_remaining: number | null) => ({
  fences: [{ scope: 'system', kind, epoch: 1, calls_remaining }],
});

/** Allowed calls that their own records contradict. */
export async function traceVectors(): Promise<Record<string, ReceiptVector>> {
  const refused = async (about: string, changes: Members) =>
    invalid(about, 'VERDICT_MISMATCH', await reportOf(changes), 0);
  const gates = traceOf();
  return {
    'valid/allowed-within-a-throttle': valid(
      'A call that was let go within a throttle around several tenants, whose remainder is not told.',
      await reportOf(fence('throttle', null)),
    ),
    ...(await brokenRosters(refused)),
    'invalid/allowed-without-a-policy': await refused('A call that was let go where no policy was.', {
      ...{ policy_hash: null, policy_epoch: 0 },
    }),
    'invalid/allowed-by-no-fence-gate': await refused('A call of which the gate of the fences had nothing to say.', {
      gates: traceOf({ fence: { outcome: 'not_applicable' } }),
    }),
    'invalid/allowed-by-no-rule': await refused('A call of which the rules had nothing to say.', {
      gates: traceOf({ rules: { outcome: 'not_applicable' } }),
    }),
    'invalid/allowed-with-a-server-that-waits': await refused(
      'A call that was let go by an approval, although its server waits for another one.',
      {
        gates: traceOf({
          registry: { outcome: 'escalate', reason_code: 'SERVER_QUARANTINED' },
          approval: { outcome: 'pass' },
        }),
        approval_id: 'apr_00000000000000000000000007',
      },
    ),
    'invalid/allowed-in-a-freeze': await refused('A call that was let go in a freeze.', fence('freeze', null)),
    'invalid/allowed-beyond-a-throttle': await refused(
      'A call that was let go by a throttle of which nothing was left.',
      fence('throttle', 0),
    ),
    ...(await budgetVectors(refused)),
    'invalid/allowed-to-a-revoked-credential': await refused('A call by a credential that was revoked.', {
      identity: { ...allowed.identity, credential_state: 'revoked' },
    }),
    'invalid/allowed-to-a-revoked-agent': await refused('A call by an agent that was revoked.', {
      identity: { ...allowed.identity, enrolment: 'revoked' },
    }),
    'invalid/allowed-to-nobody': invalid(
      'A call of which the record does not say who made it.',
      'VERDICT_MISMATCH',
      await exportOf([chainOfRecords([recordOf(1, { verdict: 'ALLOW', reason_code: 'ALLOWED', gates })])]),
      0,
    ),
  };
}

/** Calls under budgets, whose remainders are those before the call. */
async function budgetVectors(
  refused: (about: string, changes: Members) => Promise<ReceiptVector>,
): Promise<Record<string, ReceiptVector>> {
  const unlimited = { tool_calls_remaining: null, writes_remaining: null, egress_remaining_bytes: null };
  const money = { spend_remaining_micros: null, approval_required_above_minor: null, currency: null };
  const budget = (changes: Members) => ({
    budgets: [{ budget_id: idOf('bud', 1), ...unlimited, ...money, ...changes }],
  });
  return {
    'valid/budget-covers': valid(
      'A call that takes all that its budgets have left.',
      await reportOf({
        ...budget({ tool_calls_remaining: 1, writes_remaining: 1, spend_remaining_micros: '7' }),
        demand: { spend_micros: '7' },
      }),
    ),
    'invalid/budget-without-calls': await refused(
      'A call under a budget without calls.',
      budget({ tool_calls_remaining: 0 }),
    ),
    'invalid/budget-without-money': await refused('A call that costs more than its budget has left.', {
      ...budget({ spend_remaining_micros: '6' }),
      demand: { spend_micros: '7' },
    }),
    'invalid/budget-of-unknown-cost': await refused('A call of unknown cost under a budget of money.', {
      ...budget({ spend_remaining_micros: '6' }),
      demand: { spend_micros: null },
    }),
  };
}

/** Vectors with invalid rosters. A valid roster has all gates in order, each once. */
async function brokenRosters(
  refused: (about: string, changes: Members) => Promise<ReceiptVector>,
): Promise<Record<string, ReceiptVector>> {
  const gates = traceOf();
  const [first, ...others] = gates;
  return {
    'invalid/trace-of-one-gate': await refused('A call that one gate let go, which is not the one of the rules.', {
      gates: gates.filter(({ gate }) => gate === 'egress'),
    }),
    'invalid/trace-without-a-gate': await refused('A call whose trace lacks a gate that seldom has something to say.', {
      gates: gates.filter(({ gate }) => gate !== 'sandbox'),
    }),
    'invalid/trace-with-a-gate-twice': await refused('A call that one gate judged twice.', {
      gates: first === undefined ? [] : [first, ...gates],
    }),
    'invalid/trace-out-of-order': await refused('A call that the first gate judged last.', {
      gates: first === undefined ? [] : [...others, first],
    }),
    'invalid/announcement-with-a-trace': await refused('An announcement that claims to have been judged.', {
      kind: 'registry',
    }),
  };
}
