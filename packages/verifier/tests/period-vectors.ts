import { encodeHex, rootOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { emptyTally, tallied, tallyOf } from '@countersign/receipts';
import {
  chainOf,
  chainOfRecords,
  consistencyOf,
  exportOf,
  hashOf,
  leafOf,
  noteOver,
  receiptHashOf,
  recordOf,
  settledChain,
  sign,
  strangeSigner,
  testKeys,
} from './chain-fixture.ts';
import type { Chain, Line, Members } from './chain-fixture.ts';
import type { ReceiptVector } from './receipt-vector.ts';

type End = { period: Line; checkpoint: string; consistency: string[] };
export type PeriodExport = { header: Members; receipts: Line[]; end: End };
type Report = { from?: string; to?: string; statement?: Members; record?: Members };

const instant = (time: string) => `2026-02-01T${time}.000Z`;
const [begins, ends] = [instant('00:00:02'), instant('00:00:12')];

/** Two sessions. One began before the period, and the other continues after it. */
export const chains = () => [chainOf(3), chainOf(3, { session: 'session-2', from: 10 })];

export async function periodVectors(): Promise<Record<string, ReceiptVector>> {
  const rows = { ...(await brokenPeriods()), ...(await brokenStatements()) };
  const broken = Object.entries(rows).map(([name, { about, code, line, lines }]) => {
    const found = line === undefined ? { code } : { code, line };
    return [`invalid/period-${name}`, vectorOf(about, lines, { verdict: 'NOT_VERIFIED', ...found })] as const;
  });
  return { ...(await validPeriods()), ...(await shortPeriods()), ...Object.fromEntries(broken) };
}

async function validPeriods(): Promise<Record<string, ReceiptVector>> {
  const valid = (about: string, lines: unknown[]) => vectorOf(about, lines, { verdict: 'VERIFIED' });
  const whole = await periodOf(chains());
  const stranger = { ...whole.end.period, receipt: sign(whole.end.period.receipt.payload, strangeSigner) };
  return {
    'valid/period': valid('The parts of two sessions, and the statement that says so.', linesOf(whole)),
    'valid/period-empty': valid(
      'A period in which nothing was issued: its statement says it, and without it the export would show nothing.',
      linesOf(await periodOf(chains(), { from: instant('00:05:00'), to: instant('00:06:00') })),
    ),
    'valid/period-outcome-alone': valid(
      'An outcome whose decision was issued before the period.',
      linesOf(await periodOf([settledChain()], { from: instant('00:05:00'), to: instant('00:16:00') })),
    ),
    'undecidable/period-statement-of-unknown-key': vectorOf(
      'A statement whose key is not trusted.',
      linesOf({ ...whole, end: { ...whole.end, period: stranger } }),
      { verdict: 'UNDECIDABLE', code: 'KEY_UNKNOWN', line: 6 },
    ),
  };
}

/** Exports whose content is valid, but of which parts are missing. */
async function shortPeriods(): Promise<Record<string, ReceiptVector>> {
  const { header, receipts, end } = await periodOf(chains());
  const short = (about: string, lines: unknown[], missing: string) =>
    vectorOf(about, lines, { verdict: 'INCOMPLETE', missing: [missing] });
  return {
    'incomplete/period-without-statement': short(
      'It ends before the statement, as one does that was cut off.',
      [header, ...receipts],
      'the statement of the period, which stands at its end',
    ),
    'incomplete/period-session-left-out': short(
      'One session is gone.',
      [header, ...receipts.slice(2), end],
      '2 of the 4 receipts of the period',
    ),
    'incomplete/period-session-cut': short(
      'One session lacks its last receipt.',
      [header, ...receipts.slice(0, 3), end],
      '1 of the 4 receipts of the period',
    ),
  };
}

type Broken = { about: string; code: string; line?: number; lines: unknown[] };

async function brokenPeriods(): Promise<Record<string, Broken>> {
  const { header, receipts, end } = await periodOf(chains());
  const wider = await periodOf(chains(), { from: instant('00:00:01') });
  const foreign = await periodOf([chainOfRecords([recordOf(5, { tenant_id: 'globex' })])]);
  const session = await exportOf(chains());
  const [second, third, neighbour, last] = receipts;
  const mismatch = { code: 'PERIOD_MISMATCH' };
  return {
    reordered: {
      about: 'The two sessions have changed places.',
      ...{ ...mismatch, line: 6, lines: [header, neighbour, last, second, third, end] },
    },
    'session-twice': {
      about: 'One session stands between two parts of the other.',
      ...{ code: 'DUPLICATE', line: 5, lines: [header, second, neighbour, last, third, end] },
    },
    'receipt-twice': {
      about: 'A receipt stands twice.',
      ...{ code: 'DUPLICATE', line: 3, lines: [header, second, second, third, neighbour, last, end] },
    },
    'receipt-missing': {
      about: 'A receipt is gone from the middle of its session.',
      ...{ code: 'CHAIN_GAP', line: 3, lines: linesOf({ ...wider, receipts: wider.receipts.toSpliced(1, 1) }) },
    },
    'receipt-before-it': {
      about: 'A receipt of the same session that was issued before the period.',
      ...{ ...mismatch, line: 2, lines: [header, wider.receipts[0], ...receipts, end] },
    },
    'receipt-of-another-tenant': {
      about: 'A receipt of another tenant, issued in the period.',
      ...{ ...mismatch, line: 6, lines: [header, ...receipts, { receipt: foreign.receipts[0]?.receipt }, end] },
    },
    'with-head': {
      about: 'A head statement, which belongs to the export of a session.',
      ...{ code: 'MALFORMED', line: 2, lines: [header, session.heads[0], ...receipts, end] },
    },
    'receipt-behind-statement': {
      about: 'A receipt behind the statement.',
      ...{ code: 'MALFORMED', line: 6, lines: [header, second, third, neighbour, end, last] },
    },
    'statement-twice': {
      about: 'The statement stands twice.',
      ...{ code: 'DUPLICATE', line: 7, lines: [header, ...receipts, end, end] },
    },
    'without-anything': { about: 'Neither receipts nor a statement.', code: 'EMPTY', lines: [header] },
    'in-a-session': {
      about: 'The statement of a period in the export of a session.',
      ...{ code: 'MALFORMED', line: 2, lines: [session.header, end, ...session.receipts] },
    },
  };
}

/** A statement about an earlier state of the log, which does not contain the last receipts. */
async function ofAShorterLog(): Promise<PeriodExport> {
  const leaves = leavesOf(chains()).slice(0, 4);
  const log_root = `sha256:${encodeHex(rootOf(nodeProvider, leaves))}`;
  const answer = await periodOf(chains(), { statement: { log_size: leaves.length, log_root } });
  const checkpoints = [noteOver(leaves, { time: instant('00:00:11') }), ...(answer.header['checkpoints'] as string[])]; // periodOf adds it
  const consistency = [await consistencyOf(leavesOf(chains()), leaves.length)];
  return { ...answer, header: { ...answer.header, checkpoints, consistency } };
}

async function brokenStatements(): Promise<Record<string, Broken>> {
  const whole = await periodOf(chains());
  const later = await periodOf(chains(), { from: instant('00:00:03') });
  const { proof: _proof, ...unproven } = whole.end.period;
  const broken = (about: string, exported: PeriodExport, code = 'PERIOD_MISMATCH'): Broken => {
    return { about, code, line: 6, lines: linesOf(exported) };
  };
  const reportOf = (statement: Members) => periodOf(chains(), { statement });
  return {
    'statement-of-another-period': broken('The statement of a shorter period.', { ...whole, end: later.end }),
    'header-of-another-period': broken('A header that claims more than its statement.', {
      ...whole,
      header: { ...whole.header, to: '2026-02-01T00:00:12.500Z' },
    }),
    'statement-of-another-tenant': broken(
      'The statement of another tenant about the same period.',
      await periodOf(chains(), { record: { tenant_id: 'globex' } }),
    ),
    'statement-without-proof': broken('A statement that is no leaf of the log.', {
      ...whole,
      end: { ...whole.end, period: unproven },
    }),
    'statement-of-a-head': broken(
      'A receipt of another kind with the same facts.',
      await periodOf(chains(), { record: { kind: 'head' } }),
    ),
    miscounted: broken('A statement about fewer receipts than are here.', await reportOf({ receipts: 3 })),
    'sessions-miscounted': broken('A statement about another number of sessions.', await reportOf({ sessions: 3 })),
    'of-other-receipts': broken(
      'A statement about as many other receipts.',
      await reportOf({ sessions_root: hashOf('others') }),
    ),
    'beyond-its-log': broken('A statement about a log that ends before one of the receipts.', await ofAShorterLog()),
    'of-another-log': broken(
      'A statement about a log with another root.',
      await reportOf({ log_root: hashOf('another log') }),
    ),
    'not-over': broken(
      'A statement from before the end of its period.',
      await reportOf({ as_of: instant('00:00:11') }),
      'TIME_MISMATCH',
    ),
    'seen-too-late': broken(
      'A statement about a time after the checkpoint that has it.',
      await reportOf({ as_of: '2027-01-01T00:00:00.000Z' }),
      'TIME_MISMATCH',
    ),
  };
}

/** The export of a period of these chains, with changes to the statements of the kernel. */
export async function periodOf(
  all: Chain[],
  { from = begins, to = ends, statement = {}, record = {} }: Report = {},
): Promise<PeriodExport> {
  const whole = await exportOf(all, { heads: false, time: instant('00:20:00') });
  const receipts = whole.receipts.filter(({ receipt }) => isWithin(String(receipt.payload['issued_at']), { from, to }));
  const leaves = leavesOf(all);
  const facts = {
    ...{ from, to, as_of: instant('00:20:00'), ...countOf(receipts) },
    ...{ log_size: leaves.length, log_root: `sha256:${encodeHex(rootOf(nodeProvider, leaves))}` },
    ...statement,
  };
  const stated = recordOf(800, {
    ...{ kind: 'period', session_id: 'heads', verdict: 'ALLOW', reason_code: 'ALLOWED', gates: [], matched_rules: [] },
    ...{ created_at: instant('00:20:01'), intent: { facts }, ...record },
  });
  const grown = await exportOf([...all, chainOfRecords([stated])], { heads: false });
  const header = { format: 'countersign/period-export.v1', tenant_id: 'acme', from, to };
  return {
    header: { ...header, checkpoints: whole.header['checkpoints'] ?? [], consistency: [] },
    receipts,
    end: {
      period: lineAt(grown.receipts, -1),
      checkpoint: String((grown.header['checkpoints'] as string[])[0]), // periodOf adds one
      consistency: await consistencyOf(
        grown.receipts.map(({ receipt }) => leafOf(receipt)),
        leaves.length,
      ),
    },
  };
}

export function leavesOf(all: Chain[]): Uint8Array[] {
  return all.flatMap((chain) => chain.receipts).map(leafOf);
}

function isWithin(time: string, { from, to }: { from: string; to: string }): boolean {
  return time >= from && time < to;
}

function countOf(receipts: Line[]): Members {
  let tally = emptyTally;
  for (const session_id of new Set(receipts.map(sessionOf))) {
    const lines = receipts.filter((line) => sessionOf(line) === session_id);
    const clocks = lines.map(({ receipt }) => Number(receipt.payload['lamport_clock']));
    const [first, last] = [Math.min(...clocks), Math.max(...clocks)];
    const receipt_hash = receiptHashOf(lineAt(lines, -1).receipt);
    tally = tallied(nodeProvider, tally, { session_id, first, last, receipt_hash });
  }
  return tallyOf(nodeProvider, tally);
}

function sessionOf({ receipt }: Line): string {
  return String(receipt.payload['session_id']);
}

function lineAt(lines: Line[], index: number): Line {
  const line = lines.at(index);
  if (line === undefined) throw new Error('there is no such line');
  return line;
}

export function linesOf({ header, receipts, end }: PeriodExport): unknown[] {
  return [header, ...receipts, end];
}

export function vectorOf(about: string, lines: unknown[], expect: ReceiptVector['expect']): ReceiptVector {
  return { about, keys: testKeys(), export: lines.map((line) => JSON.stringify(line)), expect };
}
