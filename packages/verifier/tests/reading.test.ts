import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  AuditVerification,
  createKeyRing,
  ExportVerification,
  parseKeySet,
  verifyChain,
  verifyExport,
} from '../src/index.ts';
import { describeReport } from '../src/describe-report.ts';
import { parseUntrusted } from '../src/parse-untrusted.ts';
import { assertNotAfter } from '../src/trusted-keys.ts';
import { chainOf, exportOf, linesOf, testKeys, testSigner, type Exported } from './chain-fixture.ts';

const options = { trust: parseKeySet(testKeys()), provider: nodeProvider };
const chain = chainOf(2);
let whole: Exported;
beforeAll(async () => {
  whole = await exportOf([chain]);
});
const faultIn = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

/** An export of a kernel, from the published vectors. */
function vector(name: string): { export: string[]; keys: unknown } {
  const file = new URL(`../../../contracts/vectors/receipts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof vector>; // a file of this repository
}

describe('an export', () => {
  it('is read only up to its first fault', () => {
    const reading = new ExportVerification(options);
    const [header = '', head = '', first = ''] = linesOf(whole);
    expect([header, head, first, '{}', first].map((line) => reading.take(line))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    const { fault, receipts } = reading.report();
    expect([fault?.code, fault?.line, fault?.receipt_id, receipts]).toEqual(['MALFORMED', 4, null, 1]);
  });

  it('keeps its first fault, even if a later line is too long', () => {
    const reading = new ExportVerification(options);
    reading.take('{}');
    reading.refuseLine();
    expect(reading.report().fault).toMatchObject({ code: 'MALFORMED', line: 1 });
  });

  it('is described in lines that contain only the findings', () => {
    expect(describeReport(verifyExport(linesOf(whole), options))).toBe(
      [
        'VERIFIED: 2 receipts, 2 records, 2 inclusion proofs',
        '  integrity     VERIFIED',
        '  completeness  COMPLETE',
        `  signer        TRUSTED (${testSigner.keyId})`,
        "  time          LOGGED (issued 2026-02-01T00:00:01.000Z to 2026-02-01T00:00:02.000Z, in the operator's log by 2026-02-01T01:00:00.000Z)",
        '  acme/session-1: 1–2, START_PROVEN, END_PROVEN as of 2026-02-01T00:20:00.000Z',
        '  not shown     whether a call had the effect that its caller or server states',
        '  not shown     controls behind the decisions: only an evidence pack contains them',
        '  not shown     whether a session has more receipts: only the operator states where it ends',
        '',
      ].join('\n'),
    );
  });

  it('is described with the place of its fault, if anything was read', () => {
    const reportOf = (lines: string[]) => describeReport(verifyExport(lines, options)).split('\n')[0];
    expect(reportOf([])).toMatch(/^NOT_VERIFIED: EMPTY: [^(]*$/);
    expect(reportOf(['{}'])).toMatch(/ \(line 1\)$/);
    const [header = '', head = '', first = ''] = linesOf(whole);
    expect(reportOf([header, head, first, first])).toMatch(/ \(line 4, rcp_0+1\)$/);
  });

  it('is described with its break glass and its period', () => {
    const glass = vector('valid/broken-glass-used');
    const [glassLine] = describeReport(verifyExport(glass.export, { ...options, trust: parseKeySet(glass.keys) }))
      .split('\n')
      .filter((line) => line.includes('broken glass'));
    expect(glassLine).toMatch(/^ {2}broken glass {2}1, the first is rcp_\w+$/);
    const period = vector('valid/period');
    expect(describeReport(verifyExport(period.export, { ...options, trust: parseKeySet(period.keys) }))).toMatch(
      /\n {2}period {8}acme, \S+ to \S+: \d+ sessions, as of \S+, when the log had \d+ receipts\n {2}not shown {5}/,
    );
  });
});

describe('a line with more values than a kernel seals', () => {
  const lineOf = (values: number) => JSON.stringify({ record: { intent: { facts: { a: Array(values).fill(0) } } } });

  it('is too large, and its content is not read', () => {
    for (const [values, code] of [
      [199_000, 'MALFORMED'],
      [200_001, 'TOO_LARGE'],
    ] as const) {
      const audit = new AuditVerification({ provider: nodeProvider });
      audit.take(lineOf(values));
      const [header = ''] = linesOf(whole);
      const messages = [verifyExport([header, lineOf(values)], options), audit.report()];
      const verdict = code === 'TOO_LARGE' ? 'UNDECIDABLE' : 'NOT_VERIFIED';
      expect(messages).toMatchObject([
        { verdict, fault: { code } },
        { verdict, fault: { code } },
      ]);
    }
  });
});

describe('untrusted input', () => {
  const anything = { safeParse: () => ({ success: true as const }), _zod: { output: null as unknown } };

  it('may have as many items as the longest valid list, but not more', () => {
    const items = (count: number) => Array<number>(count).fill(0);
    expect(parseUntrusted(anything, items(50_000), 'list')).toHaveLength(50_000);
    expect(faultIn(() => parseUntrusted(anything, items(50_001), 'list'))).toBe('MALFORMED');
    expect(faultIn(() => parseUntrusted(anything, { a: [items(50_001)] }, 'list'))).toBe('MALFORMED');
    expect(parseUntrusted(anything, { facts: items(50_001) }, 'record')).toBeDefined();
  });

  it.each([[null], ['keys'], [5], [[]], [{ keys: [null] }], [{ keys: ['k'] }], [{ keys: [[]] }], [{ keys: {} }]])(
    'is refused as a key set: %j',
    (keys) => {
      expect(faultIn(() => parseKeySet(keys))).toBe('MALFORMED');
    },
  );

  it('may have a time within the clock tolerance of the log, but not later', () => {
    const seen = { time: '2026-02-01T00:00:00.000Z' };
    expect(faultIn(() => assertNotAfter('2026-02-01T00:01:00.000Z', seen))).toBeUndefined();
    expect(faultIn(() => assertNotAfter('2026-02-01T00:01:00.001Z', seen))).toBe('TIME_MISMATCH');
    expect(faultIn(() => assertNotAfter('2027-01-01T00:00:00.000Z', null))).toBeUndefined();
  });
});

describe('an error that is not a fault of the evidence', () => {
  it('is thrown and not reported as a fault', () => {
    const broken = { ...nodeProvider, verifyEd25519: () => JSON.parse('{') as boolean };
    expect(() => verifyChain(chain.receipts, { ...options, provider: broken })).toThrow(SyntaxError);
  });
});

describe('a key ring', () => {
  const reportOf = (...answers: unknown[]) => {
    let requestCount = 0;
    const tell = () => Promise.resolve(answers[requestCount++]);
    return { ring: createKeyRing({ configured: [], tell }, nodeProvider), asked: () => requestCount };
  };

  it('requests keys until it gets some, and keeps them', async () => {
    const { ring, asked } = reportOf({ keys: [] }, testKeys(), { keys: [] });
    expect(ring.pinned()).toEqual([]);
    await expect(ring.keys()).rejects.toMatchObject({ code: 'MALFORMED' });
    const keys = await ring.keys();
    expect(keys).toEqual(parseKeySet(testKeys()));
    expect(await ring.keys()).toBe(keys);
    expect(ring.pinned()).toBe(keys);
    expect(asked()).toBe(2);
  });

  it('makes no request when keys are configured', async () => {
    const tell = () => Promise.reject(new Error('no server is asked'));
    const ring = createKeyRing({ configured: [encodeBase64Url(testSigner.publicKey)], tell }, nodeProvider);
    expect(await ring.keys()).toEqual([
      {
        ...{ key_id: testSigner.keyId, public_key: testSigner.publicKey, purpose: 'receipts' },
        valid_from: '1970-01-01T00:00:00.000Z',
      },
    ]);
  });
});
