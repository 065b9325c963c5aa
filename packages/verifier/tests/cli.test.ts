import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../src/run-cli.ts';
import { nodeProvider } from '@countersign/crypto/node';
import { auditHash, forTerminal, verifyChain } from '../src/index.ts';
import {
  chainOf,
  exportOf,
  hashOf,
  jwkOf,
  linesOf,
  logSigner,
  receiptHashOf,
  sign,
  strangeSigner,
  testKeys,
} from './chain-fixture.ts';
import { trustListOf } from './trust-list-fixture.ts';
import { proofOf, signers, type Telling } from './conformance-proof.ts';
import type { Exported, Receipt } from './chain-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-verify-'));
const keys = write('keys.json', JSON.stringify(testKeys()));
const chain = chainOf(4);
let whole: Exported;
beforeAll(async () => {
  whole = await exportOf([chain]);
});
afterAll(() => rmSync(folder, { recursive: true }));

const workspaceId = 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const exportedAt = '2026-11-22T10:00:00.000Z';
const auditHeader = { format: 'countersign/audit-export.v1', workspaceId, exportedAt };

function auditOf(count: number): { actor: string; hash: string }[] {
  let prevHash: string | null = null;
  return Array.from({ length: count }, (_, index) => {
    const entry = {
      ...{ id: `aud_${index}`, workspaceId, seq: index + 1, action: 'task.created', actor: 'ada', verdict: 'allow' },
      ...{ reason: 'ok', subject: null, details: {}, requestId: null, createdAt: exportedAt, prevHash },
    };
    prevHash = auditHash(nodeProvider, entry);
    return { ...entry, hash: prevHash };
  });
}

describe('countersign-verify', () => {
  it('exits 0 for verified, 1 for not verified, 3 for incomplete, 4 for undecidable', async () => {
    const cases: [string, Exported, number][] = [
      ['VERIFIED', whole, 0],
      ['NOT_VERIFIED', { ...whole, receipts: whole.receipts.toReversed() }, 1],
      ['NOT_VERIFIED', { ...whole, heads: [], receipts: [] }, 1],
      ['INCOMPLETE', { ...whole, receipts: whole.receipts.slice(0, 3) }, 3],
      ['INCOMPLETE', { ...whole, heads: [] }, 3],
      ['INCOMPLETE', { ...whole, receipts: whole.receipts.map(({ record: _record, ...line }) => line) }, 3],
      ['INCOMPLETE', { ...whole, receipts: whole.receipts.map(({ proof: _proof, ...line }) => line) }, 3],
      [
        'UNDECIDABLE',
        {
          ...whole,
          receipts: whole.receipts.map((line) => ({ ...line, receipt: sign(line.receipt.payload, strangeSigner) })),
        },
        4,
      ],
    ];
    for (const [verdict, exported, status] of cases) {
      const file = write('export.ndjson', linesOf(exported).join('\n'));
      const [textStatus, text] = await run([file, '--keys', keys]);
      const [jsonStatus, json] = await run([file, '--keys', keys, '--json']);
      expect([textStatus, text.split(':')[0], jsonStatus]).toEqual([status, verdict, status]);
      expect(JSON.parse(json)).toMatchObject({ verdict });
    }
  });

  it('verifies the audit log of a workspace, and prints the entry to note', async () => {
    const entries = auditOf(3);
    const noted = entries[1]?.hash ?? '';
    const log = (kept: object[]) => {
      const lines = [auditHeader, ...kept, { end: { seq: 3, hash: entries[2]?.hash } }];
      return write('audit.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
    };
    const [status, text] = await run(['--audit', log(entries), '--workspace', workspaceId, '--head', noted]);
    expect([status, text]).toEqual([
      0,
      `VERIFIED: 3 entries\n  workspace     ${workspaceId}\n  head          ${entries[2]?.hash}\n`,
    ]);
    expect((await run(['--audit', log(entries), '--head', `sha256:${'0'.repeat(64)}`]))[0]).toBe(3);
    const [edited, json] = await run([
      '--audit',
      log(entries.with(1, { hash: noted, ...entries[1], actor: '\u001b[2J' })),
      '--json',
    ]);
    expect([edited, JSON.parse(json)]).toMatchObject([1, { fault: { code: 'HASH_MISMATCH', line: 3 } }]);
    expect((await run(['--audit', log(entries), '--workspace', `wsp_${'0'.repeat(26)}`]))[0]).toBe(1);
    expect((await run(['--audit']))[0]).toBe(2);
    expect((await run(['--audit', log(entries), log(entries)]))[1]).toContain('needs exactly one export; see --help');
  });

  it('verifies a period for the given tenant and instants', async () => {
    const lines = linesOfVector('valid/period');
    const file = write('period.ndjson', lines.join('\n'));
    const [from, to] = ['2026-02-01T00:00:02.000Z', '2026-02-01T00:00:12.000Z'];
    const pinned = ['--tenant', 'acme', '--from', from, '--to', to];
    const [status, text] = await run([file, '--keys', keys, ...pinned]);
    expect([status, text.split('\n')[0]]).toEqual([0, 'VERIFIED: 4 receipts, 4 records, 4 inclusion proofs']);
    expect(text).toContain(
      `  period        acme, ${from} to ${to}: 2 sessions, as of 2026-02-01T00:20:00.000Z, when the log had 6 receipts\n`,
    );
    const statusOf = async (...options: string[]) => (await run([file, '--keys', keys, ...options]))[0];
    const others = [statusOf('--tenant', 'globex'), statusOf('--from', to), statusOf('--to', from)];
    expect(await Promise.all(others)).toEqual([1, 1, 1]);
    expect(await Promise.all([statusOf('--from', 'yesterday'), statusOf('--to', '2026-02-01')])).toEqual([2, 2]);
    const noted = (JSON.parse(lines[2] ?? '') as { receipt: Receipt }).receipt; // the last receipt of its session
    expect(await statusOf('--head', receiptHashOf(noted))).toBe(0);
    expect(await statusOf('--head', `sha256:${'0'.repeat(64)}`)).toBe(3);
    const session = write('export.ndjson', linesOf(whole).join('\n'));
    expect((await run([session, '--keys', keys, '--to', to]))[0]).toBe(1);
    const cut = write('cut.ndjson', lines.slice(0, -1).join('\n'));
    expect((await run([cut, '--keys', keys]))[0]).toBe(3);
    const empty = write('empty.ndjson', linesOfVector('valid/period-empty').join('\n'));
    expect(await run([empty, '--keys', keys])).toEqual([0, expect.stringMatching(/^VERIFIED: 0 receipts/)]);
  });

  it('applies all its options', async () => {
    const file = write('export.ndjson', linesOf(whole).join('\n'));
    const last = chain.receipts.at(-1);
    const statuses = async (...options: string[][]) =>
      Promise.all(options.map(async (option) => (await run([file, '--keys', keys, ...option]))[0]));
    expect(
      await statuses(
        ['--tenant', 'acme', '--session', 'session-1', '--origin', 'log.example.org/test-only'],
        ['--head', last ? receiptHashOf(last) : ''],
        ['--require', 'integrity,signer'],
        ['--partial'],
      ),
    ).toEqual([0, 0, 0, 0]);
    expect(await statuses(['--tenant', 'globex'], ['--session', 'other'], ['--origin', 'other'])).toEqual([1, 1, 1]);
    expect(await statuses(['--head', `sha256:${'0'.repeat(64)}`])).toEqual([3]);
    expect(
      await statuses(['--require', 'everything'], ['--no-such-option'], ['--keys', join(folder, 'absent')]),
    ).toEqual([2, 2, 2]);
  });

  it('accepts a trust list signed by the pinned root, in no earlier version than requested', async () => {
    const file = write('export.ndjson', linesOf(whole).join('\n'));
    const { trust, root } = trustListOf(testKeys().keys);
    const list = write('trust.json', JSON.stringify(trust));
    const status = async (...argv: string[]) => (await run([file, ...argv]))[0];
    expect(await status('--keys', list, '--root', root)).toBe(0);
    expect(await status('--keys', list, '--root', root, '--trust-version', '1')).toBe(0);
    expect(await run([file, '--keys', list, '--root', root, '--trust-version', '2'])).toEqual([
      2,
      expect.stringContaining('its version is 1, but version 2 or later is required'),
    ]);
    expect(await run([file, '--keys', list, '--root', `-${'A'.repeat(42)}`])).toEqual([
      2,
      expect.stringContaining('trust list: signed by the key'),
    ]);
    let dashed = trustListOf(testKeys().keys);
    while (!dashed.root.startsWith('-')) dashed = trustListOf(testKeys().keys);
    expect(await status('--keys', write('dashed.json', JSON.stringify(dashed.trust)), '--root', dashed.root)).toBe(0);
    expect(await status('--keys', list)).toBe(2);
    expect(await status('--keys', list, '--root')).toBe(2);
    expect(await status('--keys', keys, '--root', root)).toBe(2);
    expect(await status('--keys', list, '--root', root, '--trust-version', 'x')).toBe(2);
  });

  it('refuses options that do not apply to the input, or that are repeated', async () => {
    const file = write('export.ndjson', linesOf(whole).join('\n'));
    const period = write('period.ndjson', linesOfVector('valid/period').join('\n'));
    const entries = auditOf(1);
    const lines = [auditHeader, ...entries, { end: { seq: 1, hash: entries[0]?.hash } }];
    const log = write('audit.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
    const proof = write('proof.json', JSON.stringify(proofOf()));
    const instant = '2026-02-01T00:00:02.000Z';
    const head = hashOf('another');
    const cases: [string[], string][] = [
      [[file, '--keys', keys, '--workspace', workspaceId], '--workspace does not apply to an export'],
      [[file, '--keys', keys, '--vectors', head], '--vectors does not apply to an export'],
      [[file, '--keys', keys, '--tenant', 'x', '--tenant', 'acme'], '--tenant may be used once'],
      [[file, '--keys', keys, '--keys', keys], '--keys may be used once'],
      [[file, '--keys', keys, '--json', '--json'], '--json may be used once'],
      [
        [file, '--keys', keys, '--head', head, '--require', 'integrity,signer'],
        '--head, --contains, --sessions and --beside need completeness',
      ],
      [[file, '--kyes', keys], "Unknown option '--kyes'; see --help"],
      [[join(folder, 'absent'), '--keys', keys], 'absent cannot be read: no such file'],
      [[file, '--keys', join(folder, 'absent')], 'absent cannot be read: no such file'],
      [
        [file, '--keys', keys, '--head', 'sha256:00'],
        '--head and --contains must be sha256: and 64 hexadecimal digits',
      ],
      [[file, '--keys', keys, '--head', ''], '--head and --contains must be sha256: and 64 hexadecimal digits'],
      ...[[], [file], ['--keys', keys], [file, file, '--keys', keys], ['--conformance', proof]].map(
        (argv): [string[], string] => [
          argv,
          'countersign-verify needs exactly one export or proof, and --keys; see --help',
        ],
      ),
      [['--audit'], 'countersign-verify --audit needs exactly one export; see --help'],
      [[file, '--keys', keys, '--from', 'today'], '--from must be an instant such as 2026-11-01T00:00:00.000Z'],
      [[file, '--keys', keys, '--to', 'today'], '--to must be an instant such as 2026-11-01T00:00:00.000Z'],
      [
        [file, '--keys', keys, '--require', 'signer,all'],
        '--require has the unknown value all. Use integrity, completeness, signer, time',
      ],
      [['--audit', log, '--head', ''], '--head and --contains must be sha256: and 64 hexadecimal digits'],
      [[period, '--keys', keys, '--partial'], '--partial does not apply to the export of a period'],
      ...['--tenant', '--session', '--origin', '--from', '--to', '--require', '--keys', '--vectors'].map(
        (option): [string[], string] => [['--audit', log, option, instant], `${option} does not apply to an audit log`],
      ),
      [['--audit', log, '--partial'], '--partial does not apply to an audit log'],
      [['--audit', '--conformance', log], '--conformance does not apply to an audit log'],
      [['--audit', log, '--workspace', 'x', '--workspace', workspaceId], '--workspace may be used once'],
      ...['--tenant', '--session', '--from', '--to', '--head', '--require', '--workspace'].map(
        (option): [string[], string] => [
          ['--conformance', proof, '--keys', keys, option, instant],
          `${option} does not apply to a conformance proof`,
        ],
      ),
    ];
    for (const [argv, sentence] of cases) expect(await run(argv)).toEqual([2, expect.stringContaining(sentence)]);
    expect((await run(['--audit', log, '--head', entries[0]?.hash ?? '', '--head', head]))[0]).toBe(3);
    expect((await run([file, '--keys', keys, '--head', head, '--head', head]))[0]).toBe(3);
  });

  it('reads the standard input, and prints its usage and its version', async () => {
    const bytes = Buffer.from(linesOf(whole).join('\n'));
    const chunks = Array.from({ length: Math.ceil(bytes.length / 700) }, (_, at) =>
      bytes.subarray(at * 700, (at + 1) * 700),
    );
    expect((await run(['-', '--keys', keys], chunks))[0]).toBe(0);
    expect(await run(['--help'])).toEqual([0, expect.stringContaining('--require')]);
    expect(await run(['--version'])).toEqual([0, expect.stringMatching(/^countersign-verify \d/)]);
    expect((await run([]))[0]).toBe(2);
    expect((await run([join(folder, 'absent'), '--keys', keys]))[0]).toBe(2);
  });

  it('reports input that is too large as undecidable', async () => {
    const megabyte = new Uint8Array(1_048_576).fill(0x20);
    let read = 0;
    async function* endless() {
      for (; read < 64; read += 1) yield megabyte;
    }
    const [status, text] = await run(['-', '--keys', keys], endless());
    expect(read).toBeLessThan(12);
    expect([status, text]).toEqual([4, expect.stringMatching(/^UNDECIDABLE: TOO_LARGE: /)]);
  });

  it('names the line and the receipt that it refuses', async () => {
    const [first, second, ...rest] = whole.receipts;
    const swapped = { ...second, record: first?.record } as (typeof whole.receipts)[number]; // both exist
    const file = write(
      'export.ndjson',
      linesOf({ ...whole, receipts: [first ?? swapped, swapped, ...rest] }).join('\n'),
    );
    const [status, text] = await run([file, '--keys', keys]);
    expect([status, text]).toEqual([
      1,
      expect.stringMatching(/^NOT_VERIFIED: LINK_MISMATCH: .* \(line 4, rcp_0{25}2\)\n/),
    ]);
  });

  it('names a file that it cannot read, and explains a server response that is not an export', async () => {
    const file = write('export.ndjson', linesOf(whole).join('\n'));
    expect(await run([file, '--keys', file])).toEqual([2, expect.stringContaining(`--keys ${file}: text is not JSON`)]);
    const refused = write('refused.ndjson', '{"error":{"message":"The tenant has no session with this ID"}}');
    const [status, text] = await run([refused, '--keys', keys]);
    expect([status, text]).toEqual([
      1,
      expect.stringContaining(
        'an error response instead of an export: The tenant has no session with this ID (line 1)',
      ),
    ]);
  });

  it('refuses a receipt whose id is not a string', async () => {
    const [header = ''] = linesOf(whole);
    const file = write('export.ndjson', `${header}\n{"receipt":{"payload":{"receipt_id":{"toString":1,"valueOf":1}}}}`);
    expect(await run([file, '--keys', keys])).toEqual([1, expect.stringContaining('NOT_VERIFIED: MALFORMED')]);
    expect(
      verifyChain([{ payload: { receipt_id: { toString: 1 } } }], { trust: [], provider: nodeProvider }),
    ).toMatchObject({ integrity: 'BROKEN', first_broken: { receipt_id: null, code: 'MALFORMED' } });
  });

  it('makes control characters in names visible', async () => {
    const hostile = 'a\u001b[2Jb\u202ec\u200bd\ue000\ufff9\u3164\u{e0041}\u2800\ufdd0';
    const exported = {
      ...whole,
      receipts: whole.receipts.map(({ receipt }) => ({
        receipt: { ...receipt, payload: { ...receipt.payload, receipt_id: hostile } },
      })),
    };
    const file = write('export.ndjson', linesOf(exported).join('\n'));
    for (const option of [[], ['--json']]) {
      const [, text] = await run([file, '--keys', keys, ...option]);
      expect(text.replaceAll('\n', '')).toMatch(/^[\x20-\x7e–]+$/);
      expect(text).toContain('202e');
    }
    expect((await run([`${hostile}.ndjson`, '--keys', keys]))[1]).toMatch(/^[\x20-\x7e]+\n$/);
    expect(forTerminal('plain — 名前 é')).toBe('plain — 名前 é');
  });

  it('shortens a very long name in a message, and names its position', async () => {
    const [header = '', head = '', first = ''] = linesOf(whole);
    const name = '\u{e0001}'.repeat(250_000);
    const hostile = [
      [header, head, first.replace('{"receipt":{', `{"receipt":{"${name}":0,`)], // unknown to the schema
      [header, head, first.replace('{"receipt":{', `{"receipt":{"${name}":0,"${name}":0,`)], // repeated, for the parser
      [header, head, first.replace('"payload":{', `"payload":{"${name}":[{"${name}":1e400}],`)], // in the path of a fault
      [header, `{"receipt":{"payload":{"receipt_id":"${name}"}}}`],
      [`{"error":{"message":"${name}"}}`],
    ];
    for (const lines of hostile)
      for (const option of [[], ['--json']]) {
        const [status, text] = await run([write('long.ndjson', lines.join('\n')), '--keys', keys, ...option]);
        expect([status, text]).toEqual([1, expect.stringContaining('MALFORMED')]);
        expect(text.length).toBeLessThan(20_000);
      }
    const [, unknown] = await run([write('long.ndjson', hostile[0]?.join('\n') ?? ''), '--keys', keys]);
    expect(unknown).toMatch(/Unrecognized key: .*… \(\d+ characters\) ….* at \/receipt \(line 3, rcp_0+1\)\n/);
    const audit = write('long.ndjson', `${JSON.stringify(auditHeader)}\n{"${name}":0}`);
    expect((await run(['--audit', audit]))[1].length).toBeLessThan(20_000);
    const proof = write('long.json', `{"${name}":[{"${name}":0}],"${name}":0}`);
    expect((await run(['--conformance', proof, '--keys', keys]))[1].length).toBeLessThan(20_000);
    const short = '\u{e0001}'.repeat(100_000);
    const unread = write('long-keys.json', `{"${short}":0,"${short}":0}`);
    const [status, text] = await run([audit, '--keys', unread]);
    expect([status, text.length < 20_000, text]).toEqual([2, true, expect.stringContaining('member occurs twice')]);
  });

  it('names a known head that ends no session of a period', async () => {
    const file = write('period.ndjson', linesOfVector('valid/period').join('\n'));
    expect((await run([file, '--keys', keys]))[0]).toBe(0);
    const [status, json] = await run([file, '--keys', keys, '--head', hashOf('another'), '--json']);
    expect([status, JSON.parse(json)]).toMatchObject([3, { missing: [`no session ends with ${hashOf('another')}`] }]);
  });

  it('verifies a proof of conformance, and exits 0 only for a passed run', async () => {
    const trusted = Object.values(signers).map((signer) => jwkOf(signer, 'receipts'));
    const keySet = write('conformance-keys.json', JSON.stringify({ keys: [...trusted, jwkOf(logSigner, 'log')] }));
    const runOf = (telling: Telling) => {
      const file = write('proof.json', JSON.stringify(proofOf(telling)));
      return run(['--conformance', file, '--keys', keySet]);
    };
    const fails: Telling = { results: ([first]) => first && Object.assign(first, { outcome: 'failed', detail: 'no' }) };
    expect(await runOf({})).toEqual([0, expect.stringContaining('VERIFIED: PASS, full run')]);
    expect(await runOf(fails)).toEqual([1, expect.stringContaining('VERIFIED: FAIL, full run')]);
    expect(await runOf({ reportHash: hashOf('x') })).toEqual([
      1,
      expect.stringContaining('NOT_VERIFIED: HASH_MISMATCH'),
    ]);
    const file = write('proof.json', JSON.stringify(proofOf()));
    const [status, json] = await run(['--conformance', file, '--keys', keySet, '--json']);
    expect([status, JSON.parse(json)]).toEqual([0, expect.objectContaining({ verdict: 'VERIFIED', fault: null })]);
    const answerTo = async (proof: string) =>
      (await run(['--conformance', write('proof.json', proof), '--keys', keySet])).join(' ');
    const objects = (count: number) => JSON.stringify({ decisions: Array(count).fill({}) });
    expect(await answerTo(objects(40_000))).toMatch(/^1 NOT_VERIFIED: MALFORMED: /);
    expect(await answerTo(objects(125_001))).toMatch(/^4 UNDECIDABLE: TOO_LARGE: more than 250000 values/);
    expect(await answerTo('x'.repeat(67_108_865))).toMatch(/^4 UNDECIDABLE: TOO_LARGE: more than 67108864 bytes/);
    expect(await answerTo('{')).toMatch(/^1 NOT_VERIFIED: MALFORMED: text is not JSON/);
  });
});

function linesOfVector(name: string): string[] {
  const file = new URL(`../../../contracts/vectors/receipts/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { export: string[] }).export; // a file of this repository
}

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function run(argv: string[], input: AsyncIterable<Uint8Array> | Uint8Array[] = []): Promise<[number, string]> {
  let output = '';
  async function* stdin() {
    yield* input;
  }
  const status = await runCli(argv, { write: (text) => (output += text), stdin: stdin() });
  return [status, output];
}
