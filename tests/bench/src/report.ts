import type { Compared } from './against.ts';
import type { LedgerCheck } from './check-ledger.ts';
import type { RunsCheck } from './check-runs.ts';
import type { Machine } from './machine.ts';
import type { Measured } from './measured.ts';
import { medianOf } from './median.ts';
import type { ProfileSummary } from './profile.ts';
import type { Goal, Ratio } from './ratios.ts';
import type { Opening } from './opening.ts';
import type { Change } from './paired-change.ts';

/** A process that uses this share of a core limits the rate. Below it, something else does. */
const busyShare = 0.9;

export type MemberReport = Measured & { warmUps: readonly Opening['warmUp'][] };

/** The figures of a member, over all openings. */
export function memberReport(openings: readonly Opening[]): MemberReport {
  const windows = openings.flatMap((opening) => opening.windows);
  return { ...mediansOf(windows), warmUps: openings.map(({ warmUp }) => warmUp) };
}

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
  const rows = [...members].map(([name, { perSecond, p50Ms, p99Ms, cpuMicros, generatorBusy, warmUps }]) => [
    name,
    rateText(perSecond),
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
    cpuMicros === null ? '–' : String(Math.round(cpuMicros)),
    generatorBusy === null ? '–' : percent(generatorBusy),
    warmUps.map(warmUpText).join(' '),
  ]);
  return columns([['measured', 'per second', 'p50 ms', 'p99 ms', 'CPU µs each', 'generator', 'warm after'], ...rows]);
}

function warmUpText(warmUp: Opening['warmUp']): string {
  if (warmUp === null) return '–';
  return warmUp.isStable ? String(warmUp.windows) : 'not stable';
}

function rateText(perSecond: number): string {
  return perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString('en');
}

/** The ratios, their goals, and what limits the rate of each subject. */
export function ratioTable(ratios: readonly Ratio[], members: ReadonlyMap<string, MemberReport>): string {
  const rows = ratios.map(({ name, subject, goal, value, range, isUnstable, isReached }) => [
    name,
    valueText(value, isUnstable),
    range === null ? '–' : `${range[0].toFixed(2)}–${range[1].toFixed(2)}`,
    goalText(goal),
    verdictText(goal, isReached),
    boundBy(members.get(subject)),
  ]);
  return columns([['ratio', 'value', 'spread', 'goal', '', 'bound by'], ...rows]);
}

function valueText(value: number | null, isUnstable: boolean): string {
  if (isUnstable) return 'not stable';
  return value === null ? '–' : value.toFixed(2);
}

/** The functions in which the process of a subject spent its time. */
export function profileText(name: string, { idleShare, heaviest }: ProfileSummary): string {
  const rows = heaviest.map(({ name: called, place, share }) => [`  ${percent(share)}`, called, place]);
  return `Profile of ${name}: idle ${percent(idleShare)} of the time. Functions by their share of the other time\n${columns(rows)}`;
}

/** The primitives of the machine. Rates of two machines can be compared only in these units. */
export function machineText({ cpu, cores, node, signature_micros, sha256_of_1_kib_micros }: Machine): string {
  const primitives = `One Ed25519 signature takes ${signature_micros.toFixed(1)} µs, SHA-256 of 1 KiB ${sha256_of_1_kib_micros.toFixed(1)} µs.`;
  return `${cpu}, ${cores} cores, Node.js ${node}. ${primitives}`;
}

/** The change of each load, and whether it can be told from none. */
export function changeTable(compared: readonly Compared[]): string {
  const rows = compared.flatMap(({ load, cpu, rate }) => [
    ...(cpu === null ? [] : [[`${load}: CPU of the kernel per answer`, ...changeCells(cpu)]]),
    [`${load}: answers per second`, ...changeCells(rate)],
  ]);
  return columns([['after over before', 'value', 'visible from', ''], ...rows]);
}

function changeCells({ value, visible }: Change): string[] {
  const isVisible = Math.abs(Math.log(value)) > Math.log(1 + visible);
  return [value.toFixed(3), `${(visible * 100).toFixed(1)} %`, isVisible ? 'changed' : 'no visible change'];
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
