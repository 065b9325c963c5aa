import type { Measured } from './measured.ts';
import { medianOf } from './median.ts';
import { isStable, type Opening } from './opening.ts';

export type Goal = { bound: 'atLeast' | 'atMost'; value: number };

export type RatioDefinition = {
  name: string;
  /**
   * Members of one comparison, combined as subject over floor or subject minus floor. `floor` is `null` for a figure of
   * the subject alone.
   */
  subject: string;
  floor: string | null;
  of: (window: Measured) => number | null;
  combine: 'quotient' | 'difference' | 'none';
  goal: Goal | null;
  /** Measured only when it is named, because it takes many minutes. */
  isOnDemand?: true;
};

export type Ratio = {
  name: string;
  subject: string;
  goal: Goal | null;
  /**
   * The median over the openings, each of which is the median over its pairs of windows. `null` where the platform does
   * not report the figure, or where a side never became stable.
   */
  value: number | null;
  /** The smallest and the largest value of the openings. With one opening, those of its pairs of windows. */
  range: [number, number] | null;
  /** Whether there is no value because a side was not stable in any opening. */
  isUnstable: boolean;
  /** `null` without a goal or without a value. */
  isReached: boolean | null;
};

const rate = ({ perSecond }: Measured) => perSecond;
const latency = ({ p50Ms }: Measured) => p50Ms;
const cpu = ({ cpuMicros }: Measured) => cpuMicros;
const peakMib = (window: Measured) => window.peakMib ?? null;
const share = (window: Measured) => window.share ?? null;
const answersPerCpuSecond = ({ cpuMicros }: Measured) => (cpuMicros === null ? null : 1e6 / cpuMicros);

const atLeast = (value: number): Goal => ({ bound: 'atLeast', value });
const atMost = (value: number): Goal => ({ bound: 'atMost', value });

const growth = { of: rate, combine: 'quotient', goal: atLeast(0.95) } as const;
/** CPU of all processes of the subject together. */
const together = { of: answersPerCpuSecond, combine: 'quotient', goal: atLeast(0.9) } as const;

/** All ratios. docs/reference/bench.md explains each of them. */
export const ratioDefinitions: readonly RatioDefinition[] = [
  {
    name: 'evaluate_vs_express_echo_c64',
    subject: 'evaluate',
    floor: 'expressEcho',
    of: rate,
    combine: 'quotient',
    goal: atLeast(0.7),
  },
  {
    name: 'evaluate_vs_node_echo_c64',
    subject: 'evaluate',
    floor: 'nodeEcho',
    of: rate,
    combine: 'quotient',
    goal: null,
  },
  {
    name: 'evaluate_cpu_over_floor_c64',
    subject: 'evaluate',
    floor: 'signingEcho',
    of: cpu,
    combine: 'quotient',
    goal: atMost(3),
  },
  {
    name: 'evaluate_c1_over_signed_commit',
    subject: 'evaluateAlone',
    floor: 'signedCommit',
    of: latency,
    combine: 'quotient',
    goal: atMost(4),
  },
  {
    name: 'chat_vs_direct_c64',
    subject: 'chat',
    floor: 'chatDirect',
    of: rate,
    combine: 'quotient',
    goal: null,
  },
  {
    name: 'chat_cpu_over_evaluate',
    subject: 'chat',
    floor: 'evaluateBesideChat',
    of: cpu,
    combine: 'quotient',
    goal: atMost(2),
  },
  {
    name: 'mcp_call_vs_direct_sdk_c16',
    subject: 'mcp',
    floor: 'mcpDirect',
    of: rate,
    combine: 'quotient',
    goal: null,
  },
  {
    name: 'mcp_cpu_over_evaluate',
    subject: 'mcp',
    floor: 'evaluateBesideMcp',
    of: cpu,
    combine: 'quotient',
    goal: atMost(2.5),
  },
  {
    name: 'mcp_call_overhead_p50_ms',
    subject: 'mcpAlone',
    floor: 'mcpDirectAlone',
    of: latency,
    combine: 'difference',
    goal: null,
  },
  {
    name: 'mcp_stdio_call_overhead_p50_ms',
    subject: 'mcpStdio',
    floor: 'stdioDirect',
    of: latency,
    combine: 'difference',
    goal: null,
  },
  {
    name: 'mcp_sandboxed_call_overhead_p50_ms',
    subject: 'mcpSandboxed',
    floor: 'stdioDirect',
    of: latency,
    combine: 'difference',
    goal: null,
  },
  { name: 'mcp_cold_start_p50_ms', subject: 'coldStart', floor: null, of: latency, combine: 'none', goal: null },
  {
    name: 'mcp_cold_start_overhead_p50_ms',
    subject: 'coldStart',
    floor: 'plainStart',
    of: latency,
    combine: 'difference',
    goal: null,
  },
  { name: 'evaluate_10k_budgets_over_none', subject: 'manyBudgets', floor: 'noBudgets', ...growth },
  { name: 'chat_300k_settled_over_fresh', subject: 'chatSettled', floor: 'chatFresh', ...growth },
  { name: 'evaluate_1m_receipts_over_10k', subject: 'receipts1m', floor: 'receipts10k', ...growth },
  {
    name: 'two_replicas_over_one',
    subject: 'twoReplicas',
    floor: 'oneReplica',
    ...together,
  },
  {
    name: 'evaluate_metered_over_unmetered',
    subject: 'metered',
    floor: 'unmetered',
    ...together,
  },
  { name: 'export_mb_per_s', subject: 'exportPack', floor: null, of: rate, combine: 'none', goal: null },
  {
    name: 'verify_receipts_per_s_over_ed25519_floor',
    subject: 'verify100k',
    floor: 'bareSignatures',
    of: answersPerCpuSecond,
    combine: 'quotient',
    goal: atLeast(0.5),
  },
  { name: 'verify_100k_peak_mib', subject: 'verify100k', floor: null, of: peakMib, combine: 'none', goal: null },
  {
    name: 'verify_peak_memory_1m_over_100k',
    subject: 'verify1m',
    floor: 'verify100k',
    of: peakMib,
    combine: 'quotient',
    goal: atMost(1.25),
    isOnDemand: true,
  },
  {
    name: 'mcp_scan_recall',
    ...{ subject: 'scanMalicious', floor: null, of: share, combine: 'none', goal: atLeast(0.95) },
  },
  {
    name: 'mcp_scan_false_positives',
    ...{ subject: 'scanHonest', floor: null, of: share, combine: 'none', goal: atMost(0.03) },
  },
  {
    name: 'gateway_read_vs_express_echo_c64',
    subject: 'gatewayRead',
    floor: 'gatewayFloor',
    of: rate,
    combine: 'quotient',
    goal: atLeast(0.4),
  },
  {
    name: 'gateway_read_by_key_vs_express_echo_c64',
    subject: 'gatewayReadByKey',
    floor: 'gatewayFloor',
    of: rate,
    combine: 'quotient',
    goal: null,
  },
  {
    name: 'gateway_forward_vs_direct_c64',
    subject: 'forward',
    floor: 'forwardDirect',
    of: rate,
    combine: 'quotient',
    goal: atLeast(0.5),
  },
  { name: 'task_accept_p50_ms', subject: 'taskAccept', floor: null, of: latency, combine: 'none', goal: null },
  {
    name: 'task_accept_p50_over_commit_p50',
    subject: 'taskAccept',
    floor: 'acceptCommit',
    of: latency,
    combine: 'quotient',
    goal: atMost(12),
  },
  { name: 'runs_drained_per_second', subject: 'drain', floor: null, of: rate, combine: 'none', goal: null },
];

/** The members that must be measured for a ratio. */
export function sidesOf({ subject, floor }: RatioDefinition): string[] {
  return floor === null ? [subject] : [subject, floor];
}

/** Every ratio whose two sides were measured. */
export function ratiosOf(
  openings: ReadonlyMap<string, readonly Opening[]>,
  definitions: readonly RatioDefinition[] = ratioDefinitions,
): Ratio[] {
  return definitions.flatMap((definition) => {
    const subject = openings.get(definition.subject);
    const floor = definition.floor === null ? subject : openings.get(definition.floor);
    return subject === undefined || floor === undefined ? [] : [ratioOf(definition, subject, floor)];
  });
}

function ratioOf(definition: RatioDefinition, subject: readonly Opening[], floor: readonly Opening[]): Ratio {
  const { name, goal } = definition;
  const common = { name, subject: definition.subject, goal };
  const stable = sidesInTurn(subject, floor).filter((sides) => sides.every(isStable));
  const isUnstable = stable.length === 0;
  const pairs = stable.map(([over, under]) => pairsOf(definition, over.windows, under.windows));
  const values = pairs.flatMap((list) => (list === null ? [] : [medianOf(list)]));
  if (isUnstable || values.length < pairs.length)
    return { ...common, value: null, range: null, isUnstable, isReached: null };
  const value = medianOf(values);
  const spread = values.length > 1 ? values : pairs.flatMap((list) => list ?? []);
  const range: [number, number] = [Math.min(...spread), Math.max(...spread)];
  return { ...common, value, range, isUnstable, isReached: goal === null ? null : isWithin(goal, value) };
}

function sidesInTurn(subject: readonly Opening[], floor: readonly Opening[]): [Opening, Opening][] {
  return subject.flatMap((over, index): [Opening, Opening][] => {
    const under = floor[index];
    return under === undefined ? [] : [[over, under]];
  });
}

const combinations: Record<RatioDefinition['combine'], (over: number, under: number) => number> = {
  quotient: (over, under) => over / under,
  difference: (over, under) => over - under,
  none: (over) => over,
};

/** One value for each round. A machine that changes between rounds affects both sides of a round alike. */
function pairsOf(
  { of, combine }: RatioDefinition,
  subject: readonly Measured[],
  floor: readonly Measured[],
): number[] | null {
  if (subject.length !== floor.length)
    throw new RangeError('The subject and the floor have different numbers of windows');
  const pairs: number[] = [];
  for (const [round, window] of subject.entries()) {
    const counterpart = floor[round];
    const [over, under] = [of(window), counterpart === undefined ? null : of(counterpart)];
    if (over === null || under === null) return null;
    pairs.push(combinations[combine](over, under));
  }
  return pairs;
}

function isWithin({ bound, value: limit }: Goal, value: number): boolean {
  return bound === 'atLeast' ? value >= limit : value <= limit;
}
