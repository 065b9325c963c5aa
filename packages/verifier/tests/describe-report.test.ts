import { expect, it } from '@jest/globals';
import { describeReport } from '../src/describe-report.ts';
import type { ExportReport } from '../src/export-report.ts';

const report: ExportReport = {
  ...{ verdict: 'VERIFIED', integrity: 'VERIFIED', completeness: 'COMPLETE', signer: 'TRUSTED', time: 'LOGGED' },
  ...{
    fault: null,
    missing: [],
    limits: [],
    receipts: 3,
    records: 2,
    proofs: 1,
    heads: 1,
    broken_glass: { count: 0, first: null },
    issuer_defects: { count: 0, first: null },
  },
  ...{ keys: ['k1', 'k2'], issued: null, witnessed: null, chains: [], period: null },
  ...{ signers: [], log: null, pack: null },
};
const chain = {
  ...{ tenant_id: 'acme', session_id: 's1', first: 1, last: 3, head: 'sha256:x', start: 'PROVEN', end: 'PROVEN' },
  ...{ end_as_of: '2026-03-01T12:00:00.000Z', stated_end: 3 },
} as const;

const statementOf = (changes: object) => describeReport({ ...report, ...changes }).split('\n');

it('the text of a report begins with its counts, and has a line for each answer', () => {
  expect(describeReport(report)).toBe(
    [
      'VERIFIED: 3 receipts, 2 records, 1 inclusion proofs',
      '  integrity     VERIFIED',
      '  completeness  COMPLETE',
      '  signer        TRUSTED (k1, k2)',
      '  time          LOGGED',
      '',
    ].join('\n'),
  );
});

it('the text of a report has the fault and its place instead of the counts', () => {
  const fault = { code: 'MALFORMED', message: 'it is no receipt', line: 0, receipt_id: null };
  const first = (changes: object) => statementOf({ verdict: 'NOT_VERIFIED', fault: { ...fault, ...changes } })[0];
  expect(first({})).toBe('NOT_VERIFIED: MALFORMED: it is no receipt');
  expect(first({ line: 1 })).toBe('NOT_VERIFIED: MALFORMED: it is no receipt (line 1)');
  expect(first({ receipt_id: 'rcp_1' })).toBe('NOT_VERIFIED: MALFORMED: it is no receipt (rcp_1)');
  expect(first({ line: 7, receipt_id: 'rcp_1' })).toBe('NOT_VERIFIED: MALFORMED: it is no receipt (line 7, rcp_1)');
});

it('the text of a report names no key when none was seen', () => {
  expect(statementOf({ keys: [] })[3]).toBe('  signer        TRUSTED');
});

it('the text of a report contains the time of issue, and the time when the log saw it', () => {
  const issued = { first: 'a', last: 'b', logged_after: null, logged_by: null };
  expect(statementOf({ issued })[4]).toBe('  time          LOGGED (issued a to b)');
  expect(statementOf({ issued: { ...issued, logged_after: 'Z', logged_by: 'c' } })[4]).toBe(
    "  time          LOGGED (issued a to b, in the operator's log after Z and by c)",
  );
  expect(statementOf({ issued: { ...issued, logged_by: 'c' } })[4]).toBe(
    "  time          LOGGED (issued a to b, in the operator's log by c)",
  );
});

it('the text of a report lists missing parts below their answer', () => {
  expect(statementOf({ missing: ['one', 'two'] }).slice(2, 6)).toEqual([
    ...['  completeness  COMPLETE', '    missing: one', '    missing: two', '  signer        TRUSTED (k1, k2)'],
  ]);
});

it('the text of a report ends with properties that receipts cannot prove', () => {
  expect(statementOf({ limits: ['one', 'two'] }).slice(-3)).toEqual(['  not shown     one', '  not shown     two', '']);
});

it('the text of a report names the defects of an issuer', () => {
  expect(statementOf({ issuer_defects: { count: 2, first: 'rcp_9' } }).slice(5)).toEqual([
    ...['  defects of the issuer  2 uncertain outcomes with an output, the first is rcp_9', ''],
  ]);
});

it('the text of a report reports break glass, and has no such line otherwise', () => {
  expect(statementOf({ broken_glass: { count: 2, first: 'rcp_9' } }).slice(5)).toEqual([
    ...['  broken glass  2, the first is rcp_9', ''],
  ]);
});

it('the text of a report lists what is proven of each chain', () => {
  expect(
    statementOf({ chains: [chain, { ...chain, session_id: 's2', end: 'UNPROVEN', end_as_of: null }] }).slice(5),
  ).toEqual([
    '  acme/s1: 1–3, START_PROVEN, END_PROVEN as of 2026-03-01T12:00:00.000Z',
    '  acme/s2: 1–3, START_PROVEN, END_UNPROVEN',
    '',
  ]);
});

it('the text of a report contains the scope of a period, and the size of the log', () => {
  const period = { tenant_id: 'acme', from: 'a', to: 'b', sessions: 4, stated: null };
  expect(statementOf({ period }).slice(5)).toEqual(['  period        acme, a to b: 4 sessions', '']);
  const stated = { sessions: 4, receipts: 9, as_of: 'c', log_size: 12 };
  expect(statementOf({ period: { ...period, stated } }).slice(5)).toEqual([
    ...['  period        acme, a to b: 4 sessions, as of c, when the log had 12 receipts', ''],
  ]);
});

it('the text of a report is safe to print for any name of an export', () => {
  const [line = ''] = statementOf({ chains: [{ ...chain, session_id: '\u001B[2J\u202E' }] }).slice(5);
  expect(line).toBe('  acme/\\u{1b}[2J\\u{202e}: 1–3, START_PROVEN, END_PROVEN as of 2026-03-01T12:00:00.000Z');
});
