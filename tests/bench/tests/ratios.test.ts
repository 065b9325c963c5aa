import { describe, expect, it } from '@jest/globals';
import type { Measured } from '../src/measured.ts';
import { medianOf } from '../src/median.ts';
import { changeOf } from '../src/paired-change.ts';
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
  return ratiosOf(openingsOf([subject], [floor]), [definition])[0];
}

/** The openings of both sides, each with its windows. */
function openingsOf(subject: Partial<Measured>[][], floor: Partial<Measured>[][], isWarm = [true, true, true]) {
  const opened = (list: Partial<Measured>[][]) =>
    list.map((windows, index) => ({
      windows: windowsOf(windows),
      warmUp: { windows: 3, isStable: isWarm[index] === true },
    }));
  return new Map([
    ['subject', opened(subject)],
    ['floor', opened(floor)],
  ]);
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
    expect(ratiosOf(new Map([['subject', [{ windows: windowsOf([{}]), warmUp: null }]]]), [byRate])).toEqual([]);
    expect(() => ratioOf(byRate, [{}, {}], [{}])).toThrow(RangeError);
  });
});

describe('a ratio over several openings', () => {
  const rates = (...list: number[]) => list.map((perSecond) => ({ perSecond }));
  const floor = [rates(100, 100), rates(100, 100), rates(100, 100)];
  const subject = [rates(50, 52), rates(80, 82), rates(60, 60)];
  const ratio = (isWarm: boolean[]) => ratiosOf(openingsOf(subject, floor, isWarm), [byRate])[0];

  it('is the median of the processes, with the smallest and the largest of them', () => {
    expect(ratio([true, true, true])).toMatchObject({ value: 0.6, range: [0.51, 0.81], isUnstable: false });
  });

  it('leaves out processes that never became stable', () => {
    expect(ratio([false, true, true])).toMatchObject({ range: [0.6, 0.81], isUnstable: false });
    expect(ratio([false, true, true])?.value).toBeCloseTo(0.705);
  });

  it('has no value, and misses no goal, when no process became stable', () => {
    expect(ratio([false, false, false])).toMatchObject({ value: null, isUnstable: true, isReached: null });
  });
});

describe('a change between two versions', () => {
  it('is the geometric mean of the pairs', () => {
    expect(changeOf([0.5, 2]).value).toBeCloseTo(1);
    expect(changeOf([0.9, 0.9, 0.9])).toEqual({ value: expect.closeTo(0.9), visible: expect.closeTo(0) });
  });

  it('states half of the 95 % confidence interval as the smallest visible change', () => {
    // The logs are -0.1 and 0.1: their standard error is 0.1, and t with one degree of freedom is 12.706.
    expect(changeOf([Math.exp(-0.1), Math.exp(0.1)]).visible).toBeCloseTo(Math.exp(1.2706) - 1, 3);
    const many = [0.98, 1.01, 0.99, 1.02, 1, 1.01];
    expect(changeOf(many).visible).toBeLessThan(0.02);
  });

  it('needs between two and ten pairs', () => {
    expect(() => changeOf([1])).toThrow(RangeError);
    expect(() => changeOf(Array<number>(11).fill(1))).toThrow(RangeError);
  });
});

describe('the ratios of the bench', () => {
  it('have exactly the documented goals', () => {
    const goals = ratioDefinitions.map(({ name, goal }) => [name, goal?.bound, goal?.value]);
    expect(goals).toEqual([
      ['evaluate_vs_express_echo_c64', 'atLeast', 0.7],
      ['evaluate_vs_node_echo_c64', undefined, undefined],
      ['evaluate_cpu_over_floor_c64', 'atMost', 3],
      ['evaluate_c1_over_signed_commit', 'atMost', 4],
      ['chat_vs_direct_c64', undefined, undefined],
      ['chat_cpu_over_evaluate', 'atMost', 2],
      ['mcp_call_vs_direct_sdk_c16', undefined, undefined],
      ['mcp_cpu_over_evaluate', 'atMost', 2.5],
      ['mcp_call_overhead_p50_ms', undefined, undefined],
      ['mcp_stdio_call_overhead_p50_ms', undefined, undefined],
      ['mcp_sandboxed_call_overhead_p50_ms', undefined, undefined],
      ['mcp_cold_start_p50_ms', undefined, undefined],
      ['mcp_cold_start_overhead_p50_ms', undefined, undefined],
      ['evaluate_10k_budgets_over_none', 'atLeast', 0.95],
      ['chat_300k_settled_over_fresh', 'atLeast', 0.95],
      ['evaluate_1m_receipts_over_10k', 'atLeast', 0.95],
      ['two_replicas_over_one', 'atLeast', 0.9],
      ['evaluate_metered_over_unmetered', 'atLeast', 0.9],
      ['export_mb_per_s', undefined, undefined],
      ['verify_receipts_per_s_over_ed25519_floor', 'atLeast', 0.5],
      ['verify_100k_peak_mib', undefined, undefined],
      ['verify_peak_memory_1m_over_100k', 'atMost', 1.25],
      ['mcp_scan_recall', 'atLeast', 0.95],
      ['mcp_scan_false_positives', 'atMost', 0.03],
      ['gateway_read_vs_express_echo_c64', 'atLeast', 0.4],
      ['gateway_read_by_key_vs_express_echo_c64', undefined, undefined],
      ['gateway_forward_vs_direct_c64', 'atLeast', 0.5],
      ['task_accept_p50_ms', undefined, undefined],
      ['task_accept_p50_over_commit_p50', 'atMost', 12],
      ['runs_drained_per_second', undefined, undefined],
    ]);
  });

  it('count decisions per CPU second, and not per second, for two replicas on the same cores', () => {
    const windows = new Map([
      ['oneReplica', [{ windows: windowsOf([{ perSecond: 1_000, cpuMicros: 400 }]), warmUp: null }]],
      ['twoReplicas', [{ windows: windowsOf([{ perSecond: 5_000, cpuMicros: 500 }]), warmUp: null }]],
    ]);
    expect(ratiosOf(windows)).toEqual([
      expect.objectContaining({ name: 'two_replicas_over_one', value: 0.8, isReached: false }),
    ]);
  });
});
