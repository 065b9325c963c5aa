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

/** An export that a kernel wrote, from the published vectors. */
function vector(name: string): { export: string[]; keys: unknown } {
  const file = new URL(`../../../contracts/vectors/receipts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof vector>; // a file of ours
}

describe('an export', () => {
  it('is read up to its first fault, and not beyond', () => {
    const reading = new ExportVerification(options);
    const [header = '', head = '', first = ''] = linesOf(whole);
    expect([header, head, first, '{}', first].map((line) => reading.take(line))).toEqual([
      ...[true, true, true],
      ...[false, false],
    ]);
    const { fault, receipts } = reading.report();
    expect([fault?.code, fault?.line, fault?.receipt_id, receipts]).toEqual(['MALFORMED', 4, null, 1]);
  });

  it('keeps its first fault, also where a later line would be too long', () => {
    const reading = new ExportVerification(options);
    reading.take('{}');
    reading.refuseLine();
    expect(reading.report().fault).toMatchObject({ code: 'MALFORMED', line: 1 });
  });

  it('is told in lines that say what was found, and nothing else', () => {
    expect(describeReport(verifyExport(linesOf(whole), options))).toBe(
      [
        'VERIFIED: 2 receipts, 2 records, 2 inclusion proofs',
        '  integrity     VERIFIED',
        '  completeness  COMPLETE',
        `  signer        TRUSTED (${testSigner.keyId})`,
        "  time          LOGGED (issued 2026-02-01T00:00:01.000Z to 2026-02-01T00:00:02.000Z, in the operator's log by 2026-02-01T01:00:00.000Z)",
        '  acme/session-1: 1–2, START_PROVEN, END_PROVEN as of 2026-02-01T00:20:00.000Z',
        '  not shown     whether a call had the effect that its caller or server states',
        '  not shown     controls behind the decisions: only an evidence pack is compared with them',
        '',
      ].join('\n'),
    );
  });

  it('is told with the place of its fault, and without one where nothing was read', () => {
    const told = (lines: string[]) => describeReport(verifyExport(lines, options)).split('\n')[0];
    expect(told([])).toMatch(/^NOT_VERIFIED: EMPTY: [^(]*$/);
    expect(told(['{}'])).toMatch(/ \(line 1\)$/);
    const [header = '', head = '', first = ''] = linesOf(whole);
    expect(told([header, head, first, first])).toMatch(/ \(line 4, rcp_0+1\)$/);
  });

  it('is told with its broken glass and with its period', () => {
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

describe('a line of more values than any that a kernel seals', () => {
  const lineOf = (values: number) => JSON.stringify({ record: { intent: { facts: { a: Array(values).fill(0) } } } });

  it('is too large, so its content is not read', () => {
    for (const [values, code] of [
      [199_000, 'MALFORMED'],
      [200_001, 'TOO_LARGE'],
    ] as const) {
      const audit = new AuditVerification({ provider: nodeProvider });
      audit.take(lineOf(values));
      const [header = ''] = linesOf(whole);
      const told = [verifyExport([header, lineOf(values)], options), audit.report()];
      const verdict = code === 'TOO_LARGE' ? 'UNDECIDABLE' : 'NOT_VERIFIED';
      expect(told).toMatchObject([
        { verdict, fault: { code } },
        { verdict, fault: { code } },
      ]);
    }
  });
});

describe('what a stranger gives', () => {
  const anything = { safeParse: () => ({ success: true as const }), _zod: { output: null as unknown } };

  it('may have as many items as a list of ours, and not one more', () => {
    const items = (count: number) => Array<number>(count).fill(0);
    expect(parseUntrusted(anything, items(50_000), 'list')).toHaveLength(50_000);
    expect(faultIn(() => parseUntrusted(anything, items(50_001), 'list'))).toBe('MALFORMED');
    expect(faultIn(() => parseUntrusted(anything, { a: [items(50_001)] }, 'list'))).toBe('MALFORMED');
    expect(parseUntrusted(anything, { facts: items(50_001) }, 'record')).toBeDefined();
  });

  it.each([[null], ['keys'], [5], [[]], [{ keys: [null] }], [{ keys: ['k'] }], [{ keys: [[]] }], [{ keys: {} }]])(
    'is no set of keys: %j',
    (keys) => {
      expect(faultIn(() => parseKeySet(keys))).toBe('MALFORMED');
    },
  );

  it('may say a time that another clock of the log would, and none beyond', () => {
    const seen = { time: '2026-02-01T00:00:00.000Z' };
    expect(faultIn(() => assertNotAfter('2026-02-01T00:01:00.000Z', seen))).toBeUndefined();
    expect(faultIn(() => assertNotAfter('2026-02-01T00:01:00.001Z', seen))).toBe('TIME_MISMATCH');
    expect(faultIn(() => assertNotAfter('2027-01-01T00:00:00.000Z', null))).toBeUndefined();
  });
});

describe('a fault that is none of the evidence', () => {
  it('is thrown on, and not told as one of the evidence', () => {
    const broken = { ...nodeProvider, verifyEd25519: () => JSON.parse('{') as boolean };
    expect(() => verifyChain(chain.receipts, { ...options, provider: broken })).toThrow(SyntaxError);
  });
});

describe('a ring of keys', () => {
  const told = (...answers: unknown[]) => {
    let asked = 0;
    const tell = () => Promise.resolve(answers[asked++]);
    return { ring: createKeyRing({ configured: [], tell }, nodeProvider), asked: () => asked };
  };

  it('asks for keys until it was told some, and keeps to those', async () => {
    const { ring, asked } = told({ keys: [] }, testKeys(), { keys: [] });
    expect(ring.pinned()).toEqual([]);
    await expect(ring.keys()).rejects.toMatchObject({ code: 'MALFORMED' });
    const keys = await ring.keys();
    expect(keys).toEqual(parseKeySet(testKeys()));
    expect(await ring.keys()).toBe(keys);
    expect(ring.pinned()).toBe(keys);
    expect(asked()).toBe(2);
  });

  it('asks no server where keys are configured', async () => {
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
