import { describe, expect, it } from '@jest/globals';
import type { Measured } from '../src/measured.ts';
import { medianOf } from '../src/median.ts';
import { ratioDefinitions, ratiosOf, type RatioDefinition } from '../src/ratios.ts';

const idle: Measured = { answers: 1, perSecond: 1, p50Ms: 1, p99Ms: 1, cpuMicros: null, generatorBusy: null };
const windowsOf = (list: readonly Partial<Measured>[]): Measured[] => list.map((window) => ({ ...idle, ...window }));

const byRate: RatioDefinition = {
  name: 'subject_over_floor',
  subject: 'subject',
  floor: 'floor',
  of: ({ perSecond }) => perSecond,
  combine: 'quotient',
  goal: { bound: 'atLeast', value: 0.5 },
};
const byCpu: RatioDefinition = { ...byRate, of: ({ cpuMicros }) => cpuMicros };

function ratioOf(definition: RatioDefinition, subject: Partial<Measured>[], floor: Partial<Measured>[]) {
  const windows = new Map([
    ['subject', windowsOf(subject)],
    ['floor', windowsOf(floor)],
  ]);
  return ratiosOf(windows, [definition])[0];
}

describe('the median', () => {
  it('is the middle value, or the mean of the two middle ones, in any order of the values', () => {
    expect(medianOf([9, 1, 2])).toBe(2);
    expect(medianOf([4, 1, 100, 2])).toBe(3);
    expect(medianOf([7])).toBe(7);
  });

  it('sorts values as numbers, and rejects an empty list', () => {
    expect(medianOf([10, 9, 100])).toBe(10);
    expect(() => medianOf([])).toThrow(RangeError);
  });
});

describe('a ratio', () => {
  it('compares the two sides within each round, so that a slower machine between rounds changes nothing', () => {
    const subject = [{ perSecond: 600 }, { perSecond: 60 }, { perSecond: 300 }];
    const floor = [{ perSecond: 1_000 }, { perSecond: 100 }, { perSecond: 500 }];
    expect(ratioOf(byRate, subject, floor)).toMatchObject({ value: 0.6, range: [0.6, 0.6], isReached: true });
  });

  it('is the median of the pairs, so that one disturbed window does not decide', () => {
    const subject = [{ perSecond: 40 }, { perSecond: 1 }, { perSecond: 42 }];
    const floor = [{ perSecond: 100 }, { perSecond: 100 }, { perSecond: 100 }];
    expect(ratioOf(byRate, subject, floor)).toMatchObject({ value: 0.4, range: [0.01, 0.42], isReached: false });
  });

  it('reaches a goal that it meets exactly, for lower and upper bounds', () => {
    const [half, whole] = [[{ perSecond: 50 }], [{ perSecond: 100 }]];
    expect(ratioOf(byRate, half, whole)?.isReached).toBe(true);
    const atMost = (value: number): RatioDefinition => ({ ...byRate, goal: { bound: 'atMost', value } });
    expect(ratioOf(atMost(0.5), half, whole)?.isReached).toBe(true);
    expect(ratioOf(atMost(0.49), half, whole)?.isReached).toBe(false);
  });

  it('without a goal is reported with no result', () => {
    expect(ratioOf({ ...byRate, goal: null }, [{}], [{}])).toMatchObject({ value: 1, isReached: null });
  });

  it('of CPU is unknown, and misses no goal, where a window has no CPU figure', () => {
    const messages = [{ cpuMicros: 80 }, { cpuMicros: 80 }];
    expect(ratioOf(byCpu, messages, [{ cpuMicros: 40 }, { cpuMicros: null }])).toMatchObject({
      value: null,
      range: null,
      isReached: null,
    });
    expect(ratioOf(byCpu, messages, [{ cpuMicros: 40 }, { cpuMicros: 40 }])?.value).toBe(2);
  });

  it('without a floor is the figure itself', () => {
    const alone: RatioDefinition = { ...byRate, floor: null, combine: 'none', goal: null };
    expect(ratioOf(alone, [{ perSecond: 20 }, { perSecond: 40 }, { perSecond: 30 }], [])).toMatchObject({
      value: 30,
      range: [20, 40],
    });
  });

  it('can be a difference', () => {
    const overhead: RatioDefinition = { ...byRate, of: ({ p50Ms }) => p50Ms, combine: 'difference' };
    expect(ratioOf(overhead, [{ p50Ms: 3 }], [{ p50Ms: 1 }])?.value).toBe(2);
  });

  it('is left out when one side was not measured, and rejects windows without a counterpart', () => {
    expect(ratiosOf(new Map([['subject', windowsOf([{}])]]), [byRate])).toEqual([]);
    expect(() => ratioOf(byRate, [{}, {}], [{}])).toThrow(RangeError);
  });
});

describe('the ratios of the bench', () => {
  it('have exactly the documented goals', () => {
    const goals = ratioDefinitions.map(({ name, goal }) => [name, goal?.bound, goal?.value]);
    expect(goals).toEqual([
      ['evaluate_vs_express_echo_c64', 'atLeast', 1.2],
      ['evaluate_vs_node_echo_c64', undefined, undefined],
      ['evaluate_cpu_over_floor_c64', 'atMost', 2.2],
      ['evaluate_p50_ms_c1_over_commit_p50_ms', 'atMost', 1.8],
      ['chat_vs_direct_c64', 'atLeast', 0.2],
      ['mcp_call_vs_direct_sdk_c16', 'atLeast', 0.5],
      ['mcp_call_overhead_p50_ms', undefined, undefined],
      ['mcp_stdio_call_overhead_p50_ms', undefined, undefined],
      ['mcp_sandboxed_call_overhead_p50_ms', undefined, undefined],
      ['mcp_cold_start_p50_ms', undefined, undefined],
      ['mcp_cold_start_overhead_p50_ms', undefined, undefined],
      ['evaluate_10k_budgets_over_none', 'atLeast', 0.9],
      ['chat_300k_settled_over_fresh', 'atLeast', 0.9],
      ['evaluate_1m_receipts_over_10k', 'atLeast', 0.9],
      ['two_replicas_over_one', 'atLeast', 0.9],
      ['evaluate_metered_over_unmetered', 'atLeast', 0.9],
      ['export_mb_per_s', undefined, undefined],
      ['verify_receipts_per_s_over_ed25519_floor', 'atLeast', 0.5],
      ['verify_100k_peak_mib', undefined, undefined],
      ['verify_peak_memory_1m_over_100k', 'atMost', 1.25],
      ['mcp_scan_recall', 'atLeast', 0.95],
      ['mcp_scan_false_positives', 'atMost', 0.03],
      ['gateway_read_vs_express_echo_c64', undefined, undefined],
      ['gateway_read_by_key_vs_express_echo_c64', undefined, undefined],
      ['gateway_forward_vs_direct_c64', undefined, undefined],
      ['task_accept_p50_ms', undefined, undefined],
      ['task_accept_p50_ms_over_commit_p50_ms', undefined, undefined],
      ['runs_drained_per_second', undefined, undefined],
    ]);
  });

  it('count decisions per CPU second, and not per second, for two replicas on the same cores', () => {
    const windows = new Map([
      ['oneReplica', windowsOf([{ perSecond: 1_000, cpuMicros: 400 }])],
      ['twoReplicas', windowsOf([{ perSecond: 5_000, cpuMicros: 500 }])],
    ]);
    expect(ratiosOf(windows)).toEqual([
      expect.objectContaining({ name: 'two_replicas_over_one', value: 0.8, isReached: false }),
    ]);
  });
});
