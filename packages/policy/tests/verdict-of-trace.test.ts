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
    ['allows where every gate passed', [passing, granted], allowed],
    ['allows where nothing was asked', [passing, without], allowed],
    ['allows where the last ask was granted', [asking, granted], allowed],
    ['is none where an ask was not concluded', [asking, without], null],
    ['is none where nothing was asked and the last gate was not reached', [passing, behind], null],
    [
      'denies by the last that was reached',
      [passing, denied('POLICY_DENIED'), behind],
      { verdict: 'DENY', reason_code: 'POLICY_DENIED' },
    ],
    [
      'denies behind an ask',
      [asking, denied('APPROVAL_REJECTED')],
      { verdict: 'DENY', reason_code: 'APPROVAL_REJECTED' },
    ],
    ['escalates', [asking, behind], { verdict: 'ESCALATE', reason_code: 'APPROVAL_REQUIRED' }],
    ['is none without a reason', [{ gate: 'rules', outcome: 'escalate' }], null],
    ['is none behind a denial', [denied('POLICY_DENIED'), granted], null],
    ['is none behind what was not reached', [behind, granted], null],
  ])('%s', (_what, trace, verdict) => {
    expect(verdictOfTrace(trace)).toEqual(verdict);
  });
});
