import type { LedgerCheck } from './check-ledger.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Measured } from './measured.ts';
import { medianOf } from './median.ts';
import type { ProfileSummary } from './profile.ts';
import type { Goal, Ratio } from './ratios.ts';
import type { WarmUp } from './warm-up.ts';

/** A process that uses this share of a core limits the rate. Below it, something else does. */
const busyShare = 0.9;

export type MemberReport = Measured & { warmUp: WarmUp | null };

/** The median of each figure over the rounds. */
export function mediansOf(windows: readonly Measured[]): Measured {
  const median = (of: (window: Measured) => number) => medianOf(windows.map(of));
  const isKnown = (of: (window: Measured) => number | null) => {
    const values = windows.map(of).filter((value) => value !== null);
    return values.length === windows.length ? medianOf(values) : null;
  };
  return {
    answers: median(({ answers }) => answers),
    perSecond: median(({ perSecond }) => perSecond),
    p50Ms: median(({ p50Ms }) => p50Ms),
    p99Ms: median(({ p99Ms }) => p99Ms),
    cpuMicros: isKnown(({ cpuMicros }) => cpuMicros),
    generatorBusy: isKnown(({ generatorBusy }) => generatorBusy),
  };
}

/** The measurements, one line for each member. */
export function measurementTable(members: ReadonlyMap<string, MemberReport>): string {
  const rows = [...members].map(([name, { perSecond, p50Ms, p99Ms, cpuMicros, generatorBusy, warmUp }]) => [
    name,
    rateText(perSecond),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    cpuMicros === null ? '–' : String(Math.round(cpuMicros)),
    generatorBusy === null ? '–' : percent(generatorBusy),
    warmUp === null ? '–' : `${warmUp.windows}${warmUp.isStable ? '' : ', not stable'}`,
  ]);
  return columns([['measured', 'per second', 'p50 ms', 'p99 ms', 'CPU µs each', 'generator', 'warm after'], ...rows]);
}

function rateText(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en');
}

/** The ratios, their goals, and what limits the rate of each subject. */
export function ratioTable(ratios: readonly Ratio[], members: ReadonlyMap<string, MemberReport>): string {
  const rows = ratios.map(({ name, subject, goal, value, range, isReached }) => [
    name,
    value === null ? '–' : value.toFixed(2),
    range === null ? '–' : `${range[0].toFixed(2)}–${range[1].toFixed(2)}`,
    goalText(goal),
    verdictText(goal, isReached),
    boundBy(members.get(subject)),
  ]);
  return columns([['ratio', 'value', 'pairs', 'goal', '', 'bound by'], ...rows]);
}

/** The functions in which the process of a subject spent its time. */
export function profileText(name: string, { idleShare, heaviest }: ProfileSummary): string {
  const rows = heaviest.map(({ name: called, place, share }) => [`  ${percent(share)}`, called, place]);
  return `Profile of ${name}: idle ${percent(idleShare)} of the time. Functions by their share of the other time\n${columns(rows)}`;
}

/** The results of the checks, as text. All of them passed, since a failed check throws earlier. */
export function checkText({ checks, runChecks }: { checks: readonly LedgerCheck[]; runChecks: readonly RunsCheck[] }) {
  const receipts = checks.reduce((sum, check) => sum + check.receipts, 0);
  const verified = checks.reduce((sum, check) => sum + check.verified, 0);
  const lines = runChecks.map(
    ({ runs, steps, receipts: sealed, toolCalls }) =>
      `${runs} queued runs checked: none lost, none done twice; ${steps} steps, ${sealed} receipts, ${toolCalls} calls reached the tool.`,
  );
  const ledgers = `${checks.length} ledgers checked: ${receipts} receipts, which match the answers, and ${verified} signatures verified.`;
  return [ledgers, ...lines].join('\n');
}

export function boundBy(measured: Measured | undefined): string {
  if (measured === undefined || measured.cpuMicros === null) return 'not known on this platform';
  const share = (measured.perSecond * measured.cpuMicros) / 1e6;
  if (share >= busyShare) return `its own CPU: ${percent(share)} of one core`;
  const generator = measured.generatorBusy;
  if (generator !== null && generator >= busyShare) return `the load generator: ${percent(generator)} of one core`;
  return `waiting for the database or other processes: its own CPU is ${percent(share)} of one core`;
}

/** The goal as the table and the reference page write it. */
export function goalText(goal: Goal | null): string {
  return goal === null ? 'none' : `${goal.bound === 'atLeast' ? '≥' : '≤'} ${goal.value}`;
}

function verdictText(goal: Goal | null, isReached: boolean | null): string {
  if (goal === null) return '';
  if (isReached === null) return 'not known';
  return isReached ? 'reached' : 'NOT REACHED';
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Rows as lines. Each column is as wide as its widest cell. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return lines.join('\n');
}
