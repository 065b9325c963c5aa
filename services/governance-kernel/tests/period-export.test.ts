import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type {
  ExportedPeriod,
  ExportedReceipt,
  ExportLine,
  PeriodHeader,
} from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, type TrustedKey } from '@countersign/verifier';
import { movableClock } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal } from './_seal.ts';

type Exported = { header: PeriodHeader; receipts: ExportedReceipt[]; end: ExportedPeriod };

const time = movableClock('2026-03-01T00:00:00.000Z');
const moveTo = (instant: string) => time.advance(Date.parse(instant) - time.clock().getTime());
const at = (hour: string) => `2026-03-01T${hour}:00.000Z`;
const period = { from: at('09:00'), to: at('12:00') };

let test: TestKernel;
let exported: Exported;
let trust: TrustedKey[];
const [early, through, late, shadow] = [newSession(), newSession(), newSession(), newSession()];

/**
 * A morning with four sessions: one ends in it, one spans it, one begins in it and one has a shadow decision.
 * Another tenant has a session too.
 */
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', starterPolicy);
  const day: [string, SessionId[]][] = [
    ['08:00', [early, through]],
    ['09:00', [early, through]],
    ['10:00', [late, through, early]],
    ['11:59', [through, through, shadow]],
    ['12:00', [through, late]],
    ['13:00', [through]],
  ];
  for (const [hour, sessions] of day) {
    moveTo(at(hour));
    for (const session_id of sessions)
      await seal(test, { session_id, ...(session_id === shadow ? { mode: 'shadow' } : {}) });
    await seal(test, { tenant: 'globex', session_id: through });
  }
  moveTo(at('14:00'));
  exported = await exportOf();
  trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
});
afterAll(() => test.close());

async function exportOf(request: { from: string; to: string } = period, tenant = 'acme'): Promise<Exported> {
  const { body } = await test.as(tenant).exportReceipts({ query: request });
  const [header, ...lines] = body as [PeriodHeader, ...ExportedReceipt[], ExportedPeriod];
  return { header, receipts: lines.slice(0, -1) as ExportedReceipt[], end: lines.at(-1) as ExportedPeriod };
}

const textsOf = ({ header, receipts, end }: Exported): string[] =>
  [header, ...receipts, end].map((line) => JSON.stringify(line));

function reportOn(lines: readonly string[], pinned: object = {}) {
  return verifyExport(lines, { trust, provider: nodeProvider, tenant: 'acme', ...pinned });
}

/** Verifies like a third party with the published keys. Returns the code of the fault, or else the verdict. */
function judge(lines: readonly string[]): string {
  const { fault, verdict } = reportOn(lines);
  return fault?.code ?? verdict;
}

/**
 * Replaces the proof in `end` by a proof that its checkpoint extends the last one of this header. An end of another
 * export then differs from the right one only in its statement.
 */
async function extending({ checkpoints }: PeriodHeader, end: ExportedPeriod): Promise<ExportedPeriod> {
  const [from = 0, to = 0] = [String(checkpoints.at(-1)), end.checkpoint].map((note) => Number(note.split('\n')[1]));
  const { body } = await test.as('acme').getConsistencyProof({ query: { from, to } });
  return { ...end, consistency: body.hashes };
}

const placeOf = ({ receipt: { payload } }: ExportedReceipt) => [payload.session_id, payload.lamport_clock];

describe('GET /api/v1/receipts/export of a period', () => {
  verifies('kn.chain', 'contains the receipts of the period by session, and verifies offline as a whole', () => {
    expect(exported.receipts.map(placeOf)).toEqual([
      ...[2, 3].map((place) => [early, place]),
      ...[2, 3, 4, 5].map((place) => [through, place]),
      [late, 1],
      [shadow, 1],
    ]);
    const report = reportOn(textsOf(exported), period);
    expect(report).toMatchObject({ verdict: 'VERIFIED', receipts: 8, records: 8, proofs: 8, fault: null, chains: [] });
    expect([report.integrity, report.completeness, report.signer, report.time]).toEqual([
      ...['VERIFIED', 'COMPLETE', 'TRUSTED', 'LOGGED'],
    ]);
    expect(report.period).toMatchObject({ tenant_id: 'acme', ...period, sessions: 4 });
    expect(report.period?.stated).toMatchObject({ sessions: 4, receipts: 8, as_of: at('14:00') });
  });

  verifies('kn.tenants', 'contains nothing of another tenant, not even in its counts', async () => {
    expect(textsOf(exported).join()).not.toContain('globex');
    const second = await exportOf(period, 'globex');
    expect(second.receipts.map(placeOf)).toEqual([2, 3, 4].map((place) => [through, place]));
    expect(reportOn(textsOf(second)).fault?.code).toBe('SUBJECT_MISMATCH');
    const none = await exportOf(period, 'nobody');
    expect(reportOn(textsOf(none), { tenant: 'nobody' }).period).toMatchObject({ sessions: 0 });
  });

  verifies('kn.chain', 'is not verified when a line is removed, duplicated, moved or changed', () => {
    const lines = textsOf(exported);
    const places = lines.map((_, place) => place);
    const moved = (from: number, to: number) => {
      const rest = lines.toSpliced(from, 1);
      return rest.toSpliced(to, 0, lines[from] ?? '');
    };
    const tampered = [
      ...places.map((gone) => lines.toSpliced(gone, 1)),
      ...places.map((end) => lines.slice(0, end)),
      ...places.map((place) => lines.toSpliced(place, 0, lines[place] ?? '')),
      ...places.map((place) => [...lines, lines[place] ?? '']),
      ...places.flatMap((from) => places.flatMap((to) => (from === to ? [] : [moved(from, to)]))),
      ...places.map((place) =>
        lines.map((line, index) => (index === place ? line.replace(/2026-03/g, '2026-02') : line)),
      ),
    ];
    expect(tampered.length).toBeGreaterThan(130);
    expect(tampered.map(judge).filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
  });

  verifies('kn.chain', 'reports how many receipts are missing when a session is left out', () => {
    for (const gone of [early, through, late, shadow]) {
      const receipts = exported.receipts.filter(({ receipt }) => receipt.payload.session_id !== gone);
      const report = reportOn(textsOf({ ...exported, receipts }));
      expect([report.verdict, report.completeness, report.missing]).toEqual([
        ...['INCOMPLETE', 'INCOMPLETE'],
        [`${8 - receipts.length} of the 8 receipts of the period`],
      ]);
    }
  });

  verifies('kn.chain', 'rejects receipts of another time, session or tenant, and another statement', async () => {
    const wider = await exportOf({ from: at('07:00'), to: at('13:30') });
    const foreign = await exportOf(period, 'globex');
    const inserted = (receipts: ExportedReceipt[]) => judge(textsOf({ ...exported, receipts }));
    const later = wider.receipts.filter(({ receipt }) => receipt.payload.issued_at >= period.to);
    const [first] = exported.receipts;
    for (const stray of [...later, ...foreign.receipts]) {
      const verdicts = exported.receipts.map((_, place) => inserted(exported.receipts.toSpliced(place, 0, stray)));
      expect(verdicts.filter((verdict) => verdict === 'VERIFIED')).toEqual([]);
      if (first !== undefined) expect(inserted([stray, ...exported.receipts.slice(1)])).not.toBe('VERIFIED');
    }
    const { header, receipts } = exported;
    for (const { end } of [wider, foreign]) {
      expect(judge(textsOf({ header, receipts, end }))).toBe('CONSISTENCY_UNPROVEN');
      expect(judge(textsOf({ header, receipts, end: await extending(header, end) }))).toBe('PERIOD_MISMATCH');
    }
    expect(judge([...textsOf(exported), ...textsOf(wider)])).toBe('MALFORMED');
    const { body: chain } = await test.as('acme').exportReceipts({ query: { session_id: early } });
    const [, head = {}, ...links] = chain.map((line: ExportLine) => JSON.stringify(line));
    expect(judge(textsOf(exported).toSpliced(1, 0, String(head)))).toBe('MALFORMED');
    expect(judge([JSON.stringify(header), ...links.map(String), JSON.stringify(exported.end)])).not.toBe('VERIFIED');
  });

  verifies(
    'kn.chain',
    'verifies only for the pinned tenant and period, and no session export replaces it',
    async () => {
      const lines = textsOf(exported);
      const codes = [{ tenant: 'globex' }, { from: at('09:01') }, { to: at('11:00') }, { session: through }].map(
        (pinned) => reportOn(lines, pinned).fault?.code,
      );
      expect(codes).toEqual(Array(4).fill('SUBJECT_MISMATCH'));
      const { body: chain } = await test.as('acme').exportReceipts({ query: { session_id: late } });
      const session = chain.map((line) => JSON.stringify(line));
      expect([reportOn(session).verdict, reportOn(session, period).fault?.code]).toEqual([
        'VERIFIED',
        'SUBJECT_MISMATCH',
      ]);
    },
  );

  it('that is empty is verified by its statement, and is reported as EMPTY without it', async () => {
    const { header, receipts, end } = await exportOf({ from: at('03:00'), to: at('04:00') });
    expect(receipts).toEqual([]);
    const report = reportOn([header, end].map((line) => JSON.stringify(line)));
    expect(report).toMatchObject({ verdict: 'VERIFIED', receipts: 0, completeness: 'COMPLETE', time: 'LOGGED' });
    expect(report.period).toMatchObject({ sessions: 0, stated: { sessions: 0, receipts: 0 } });
    expect(judge([JSON.stringify(header)])).toBe('EMPTY');
    const { record: _record, ...bare } = end.period;
    expect(judge([header, { ...end, period: bare }].map((line) => JSON.stringify(line)))).toBe('PERIOD_MISMATCH');
  });

  it('is rejected for invalid combinations of session and period, and for reversed or future periods', async () => {
    const ask = (query: object) => test.as('acme').exportReceipts({ query: query });
    const cases: [object, string][] = [
      [{}, 'session_id'],
      [{ session_id: late, ...period }, 'from'],
      [{ from: period.from }, 'to'],
      [{ to: period.to }, 'from'],
      [{ from: period.to, to: period.from }, 'to'],
      [{ from: period.from, to: period.from }, 'to'],
      [{ ...period, limit: 2 }, 'limit'],
      [{ ...period, from_lamport_clock: 2 }, 'from_lamport_clock'],
      [{ ...period, to: at('14:01') }, 'to'],
      [{ from: '2026-03-01', to: period.to }, 'from'],
    ];
    for (const [query, param] of cases)
      await expect(ask(query)).rejects.toMatchObject({ status: 400, code: 'INVALID_REQUEST', param });
    await expect(ask({ ...period, cursor: 'x' })).rejects.toMatchObject({ code: 'UNKNOWN_MEMBER', param: 'cursor' });
  });
});
