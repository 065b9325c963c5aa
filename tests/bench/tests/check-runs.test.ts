import { describe, expect, it } from '@jest/globals';
import { faultsOf, type FoundRun } from '../src/check-runs.ts';
import { auditOfRun, receiptsOfRun, stepsOfRun } from '../src/run-script.ts';

const whole = (id: string): FoundRun => ({
  id,
  status: 'completed',
  steps: stepsOfRun,
  decisions: stepsOfRun.length,
  audit: auditOfRun,
  receipts: receiptsOfRun,
});
const both = [whole('run_1'), whole('run_2')];
const expected = { runs: 2, toolCalls: 2 };
const withSecond = (change: Partial<FoundRun>) =>
  faultsOf([whole('run_1'), { ...whole('run_2'), ...change }], expected);
const [first = '', ...others] = stepsOfRun;

describe('the check of queued runs', () => {
  it('finds no fault in runs that are each done once', () => {
    expect(faultsOf(both, expected)).toEqual([]);
  });

  it('finds a lost run, and a run that was not requested', () => {
    expect(faultsOf(both.slice(1), expected)).toEqual(['1 runs of 2']);
    expect(faultsOf([...both, whole('run_3')], expected)).toEqual(['3 runs of 2']);
  });

  it('finds a call that reached the tool twice but was recorded once', () => {
    expect(faultsOf(both, { ...expected, toolCalls: 3 })).toEqual(['3 calls reached the tool for 2 runs']);
  });

  it.each<[string, Partial<FoundRun>]>([
    ['status', { status: 'running' }],
    ['steps', { steps: others }],
    ['steps', { steps: [first, ...stepsOfRun] }],
    ['steps', { steps: [] }],
    ['decisions', { decisions: stepsOfRun.length - 1 }],
    ['audit', { audit: [...auditOfRun, 'run.completed'] }],
    ['audit', { audit: [] }],
    ['receipts', { receipts: receiptsOfRun.slice(0, -1) }],
    ['receipts', { receipts: [...receiptsOfRun, 'decision tool.call ALLOW'] }],
  ])('finds a run whose %s differ from the expected ones', (what, change) => {
    const faults = withSecond(change);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^run_2: ${what} .* instead of `));
  });
});
