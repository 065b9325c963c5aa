import type { Situation } from './gate-situations.ts';
import { budgetOf, frozenNow, grantFor, intentOf, knownFact, policyOf, toolOf } from './situation.ts';

const asking = (approval: object) => policyOf([{ id: 'ask', effect: 'escalate', approval }]);
const [later, still, two] = [asking({ timelock: 60 }), asking({ unchanged: ['budgets'] }), asking({ quorum: 2 })];
const named = asking({ quorum: 2, approvers: ['alice'], timelock: 60 });

/**
 * The hash of the tool and the amounts that remained of its budgets. An approval recorded both when it was requested.
 */
const resting = (...remaining: [] | [calls: number, others?: object]) => ({
  tool_definition_hash: toolOf({}).current_hash,
  budgets: remaining.length === 0 ? [] : [{ ...remainder, tool_calls_remaining: remaining[0], ...remaining[1] }],
});
const remainder = { ...budgetOf({}), spend_remaining_micros: '1000000000' };

const under = (policy: typeof later, changes: object = {}) => ({
  policy,
  facts: { approval: knownFact(grantFor(policy, intentOf(), changes)) },
});
const broken = { approved_by: [], broken_by: 'alice' };

/** The results of the approval gate for time locks, preconditions and broken glass. */
export const approvalSituations: Situation[] = [
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the time lock of the approval is shorter than the rule requires',
    ...under(later, { timelock: 59 }),
  },
  {
    code: 'APPROVAL_TIMELOCKED',
    when: 'the time lock of the approval is running',
    ...under(later, { timelock: 60, locked_until: frozenNow }),
  },
  {
    code: 'APPROVAL_TIMELOCKED',
    when: 'the approval has a running time lock that the rule does not require',
    ...under(two, { timelock: 60, locked_until: frozenNow }),
  },
  { code: 'ALLOWED', when: 'the time lock has ended', ...under(later, { timelock: 60 }) },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'the rule requires unchanged budgets and the approval does not',
    ...under(still),
  },
  ...[
    { when: 'the tool has another pin', preconditions: { tool_definition_hash: null, budgets: null } },
    { when: 'a budget has less left', preconditions: resting(5) },
    { when: 'a budget is new', preconditions: resting() },
    { when: 'a budget has less money left', preconditions: resting(4, { spend_remaining_micros: '1000000001' }) },
    { when: 'a budget has a new limit', preconditions: resting(4, { writes_remaining: null }) },
  ].map(({ when, preconditions }) => ({
    code: 'APPROVAL_PRECONDITION_FAILED' as const,
    when: `since the approval was asked for ${when}`,
    policy: still,
    facts: {
      ...under(still, { preconditions }).facts,
      budgets: knownFact([budgetOf({ tool_calls_remaining: 4 })]),
    },
  })),
  {
    code: 'ALLOWED',
    when: 'the budgets are unchanged since the approval was requested',
    ...under(still, { preconditions: resting(5) }),
  },
  { code: 'ALLOWED', when: 'break glass was used before a quorum was complete', ...under(two, broken) },
  { code: 'ALLOWED', when: 'a named approver used break glass during a time lock', ...under(named, broken) },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'break glass was used by a person that the rule does not name',
    ...under(named, { ...broken, broken_by: 'bob' }),
  },
  {
    code: 'APPROVAL_REQUIRED',
    when: 'break glass was used for more uses than the rule allows',
    ...under(two, { ...broken, scope: 'uses:2' }),
  },
  {
    code: 'APPROVAL_PRECONDITION_FAILED',
    when: 'break glass was used and the tool has another pin',
    ...under(two, { ...broken, preconditions: { tool_definition_hash: null, budgets: null } }),
  },
];
