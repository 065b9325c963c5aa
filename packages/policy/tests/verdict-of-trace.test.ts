import { describe, expect, it } from '@jest/globals';
import type { GateOutcome } from '@countersign/contracts/governance-kernel';
import { verdictOfTrace } from '../src/index.ts';

const passing: GateOutcome = { gate: 'rules', outcome: 'pass' };
const asking: GateOutcome = { gate: 'rules', outcome: 'escalate', reason_code: 'APPROVAL_REQUIRED' };
const granted: GateOutcome = { gate: 'approval', outcome: 'pass' };
const without: GateOutcome = { gate: 'approval', outcome: 'not_applicable' };
const behind: GateOutcome = { gate: 'approval', outcome: 'not_reached' };
const denied = (reason_code: 'POLICY_DENIED' | 'APPROVAL_REJECTED'): GateOutcome => ({
  ...{ gate: 'rules', outcome: 'deny', reason_code },
});

describe('the verdict of a trace', () => {
  const allowed = { verdict: 'ALLOW', reason_code: 'ALLOWED' };

  it.each<[string, GateOutcome[], object | null]>([
    ['allows if every gate passed', [passing, granted], allowed],
    ['allows if no approval was required', [passing, without], allowed],
    ['allows if the last escalation was approved', [asking, granted], allowed],
    ['is null if an escalation has no result', [asking, without], null],
    ['is null if no gate escalated and the last gate was not reached', [passing, behind], null],
    [
      'denies with the reason of the last gate that was reached',
      [passing, denied('POLICY_DENIED'), behind],
      { verdict: 'DENY', reason_code: 'POLICY_DENIED' },
    ],
    [
      'denies if an escalation was rejected',
      [asking, denied('APPROVAL_REJECTED')],
      { verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' },
    ],
    [
      'escalates if an escalation ends the trace',
      [asking, behind],
      { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' },
    ],
    ['is null without a reason', [{ gate: 'rules', outcome: 'escalate' }], null],
    ['is null if a gate passed after a denial', [denied('POLICY_DENIED'), granted], null],
    ['is null if a gate passed after one that was not reached', [behind, granted], null],
  ])('%s', (_what, trace, verdict) => {
    expect(verdictOfTrace(trace)).toEqual(verdict);
  });
});
