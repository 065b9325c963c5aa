import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import {
  type ConformanceProof,
  type ConformanceReport,
  type VectorResult,
} from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { nodeProvider } from '@countersign/crypto/node';
import { gates } from '@countersign/policy';
import { conformanceAnswer, parseKeySet, type TrustedKey } from '@countersign/verifier';
import { verifies } from '@countersign/testkit/verifies';
import { runCli } from '../../../packages/verifier/src/cli.ts';
import { collectProof } from '../src/conformance/collect-proof.ts';
import { runCommand } from '../src/conformance/run-command.ts';
import { attestReport } from '../src/conformance/report.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const runMs = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'countersign-conformance-'));
const file = (name: string) => join(folder, name);

let test: TestKernel;
let ran: Awaited<ReturnType<typeof command>>;
let proof: ConformanceProof;
let keys: TrustedKey[];

async function command(url: string, ...options: string[]) {
  const written: string[] = [];
  const told: string[] = [];
  const streams = { write: (text: string) => written.push(text), tell: (text: string) => told.push(text) };
  const status = await runCommand([url, '--key-file', file('key'), ...options], streams); // the lengths go nowhere
  return { status, out: written.join(''), told: told.join('') };
}

beforeAll(async () => {
  writeFileSync(file('key'), `${adminKey}\n`);
  test = await startTestKernel({ env: { GOV_DEMO: '0' } });
  await test.activate('acme', starterPolicy);
  const served = await fetch(`${test.kernel.url}/api/v1/trust/keys`);
  writeFileSync(file('keys.json'), await served.text());
  keys = parseKeySet(JSON.parse(readFileSync(file('keys.json'), 'utf8')));
  ran = await command(test.kernel.url, '--keys', file('keys.json'), '--out', file('proof.json'), '--json');
  proof = JSON.parse(readFileSync(file('proof.json'), 'utf8')) as ConformanceProof;
}, runMs);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

const answerTo = (shown: unknown, asked: { trust?: TrustedKey[]; vectorsHash?: string; origin?: string } = {}) =>
  conformanceAnswer(shown, { trust: keys, provider: nodeProvider, ...asked });
const codeOf = (...asked: Parameters<typeof answerTo>) => answerTo(...asked).fault?.code ?? 'VERIFIED';

describe('one command', () => {
  verifies('kn.conformance', 'has a deployment execute the vectors over HTTP, and verifies what it evidence', () => {
    expect([ran.status, JSON.parse(ran.out)]).toMatchObject([
      0,
      { verdict: 'VERIFIED', conformance: { verdict: 'PASS', scope: 'full', failed: 0 }, failed: [] },
    ]);
    expect(ran.told).toMatch(/^\d+ vectors; a full run goes on\n/);
    expect(proof.decisions.length).toBeGreaterThan(40);
    expect(answerTo(proof).conformance).toMatchObject({ verdict: 'PASS', decisions: proof.decisions.length });
  });

  it('leaves a proof that the offline verifier takes, and refuses where it is not of the vectors that are meant', async () => {
    const offline = async (...options: string[]) => {
      let text = '';
      const write = (more: string) => void (text += more);
      const argv = ['--conformance', file('proof.json'), '--keys', file('keys.json'), ...options];
      return [await runCli(argv, { write, stdin: (async function* () {})() }), text];
    };
    expect(await offline()).toEqual([0, expect.stringMatching(/^VERIFIED: PASS, full run: \d+ passed, 0 failed/)]);
    const [status, text] = await offline('--vectors', `sha256:${'0'.repeat(64)}`, '--json');
    expect([status, JSON.parse(String(text))]).toMatchObject([
      1,
      { verdict: 'NOT_VERIFIED', fault: { code: 'HASH_MISMATCH' } },
    ]);
  });

  it(
    'exits 1 where a gate is broken, and names the vectors; the answer itself verifies',
    async () => {
      const broken = { ...gates, budget: () => ({ outcome: 'pass' }) as const };
      const other = await startTestKernel({ overrides: { gates: broken }, twins: false });
      const { status, out, told } = await command(other.kernel.url, '--scope', 'short');
      await other.close();
      expect([status, out]).toEqual([1, expect.stringMatching(/^VERIFIED: FAIL, short run: \d+ passed, [1-9]/)]);
      expect(out).toMatch(/^ {2}failed: fault\.budget-spent: expected DENY/m);
      expect(told).toContain('pin them with --keys');
    },
    runMs,
  );

  it('exits 2 where nothing can be queried, and 4 where the keys are not trusted', async () => {
    writeFileSync(file('key'), 'another-key\n');
    expect((await command(test.kernel.url)).status).toBe(2);
    writeFileSync(file('key'), `${adminKey}\n`);
    expect((await command('http://127.0.0.1:1')).status).toBe(2);
    expect((await command(test.kernel.url, '--scope', 'none')).status).toBe(2);
    const told: string[] = [];
    const streams = { write: () => undefined, tell: (text: string) => void told.push(text) };
    const notHere = () => {
      throw new Error('no kernel is looked for when one is half named');
    };
    expect(await runCommand(['--key-file', file('key')], streams, notHere)).toBe(2);
    expect(await runCommand([], streams)).toBe(2);
    expect(told).toEqual([
      expect.stringContaining('this takes the URL'),
      expect.stringContaining('this takes the URL'),
    ]);
    const strangers = keys.map(({ key_id: _, ...key }, nth) => ({ ...key, key_id: `stranger-${nth}` }));
    expect(answerTo(proof, { trust: strangers })).toMatchObject({ verdict: 'UNDECIDABLE', conformance: null });
  });
});

/** The proof after a change, without any key. */
function changed(change: (shown: ConformanceProof) => void): ConformanceProof {
  const shown = structuredClone(proof);
  change(shown);
  return shown;
}

const resultOf = ({ results }: Pick<ConformanceReport, 'results'>, id: string): VectorResult => {
  const result = results.find(({ vector_id }) => vector_id === id);
  if (result === undefined) throw new Error(`There is no ${id}`);
  return result;
};
const signatureOfAnother = () => proof.decisions[0]?.receipt.signature.value ?? '';

it('a report that names receipts without end is not read without end', async () => {
  const client = createKernelClient({ baseUrl: test.kernel.url, apiKey: adminKey });
  const { signed, vectors } = proof;
  await expect(collectProof(client, { signed, vectors, withinMs: 20 })).rejects.toThrow('takes too long');
});

describe('a changed proof', () => {
  it.each<[string, string, (shown: ConformanceProof) => unknown]>([
    ['a result', 'HASH_MISMATCH', ({ signed }) => (resultOf(signed.report, 'door.evaluate-no-rule').duration_ms += 1)],
    [
      'the hash of the report',
      'LINK_MISMATCH',
      ({ signed }) => (signed.report_hash = `sha256:${'0'.repeat(64)}` as never),
    ],
    [
      'the signature of the report',
      'SIGNATURE_INVALID',
      ({ signed }) => (signed.signature.value = signatureOfAnother()),
    ],
    ['the key of the report', 'KEY_UNKNOWN', ({ signed }) => (signed.signature.key_id = 'nobody')],
    ['the vectors', 'HASH_MISMATCH', ({ vectors }) => vectors.pop()],
    ['what a vector expects', 'HASH_MISMATCH', ({ vectors }) => vectors.map((vector) => (vector.title = 'Another'))],
    [
      'the receipt',
      'INCLUSION_UNPROVEN',
      (shown) => Object.assign(shown.evidence, { receipt: shown.decisions[0]?.receipt }),
    ],
    ['the record', 'RECORD_HASH_MISMATCH', ({ evidence }) => (evidence.record.intent.facts = {})],
    ['the place in the log', 'INCLUSION_UNPROVEN', ({ evidence }) => (evidence.inclusion.log_index -= 1)],
    [
      'the checkpoint',
      'CHECKPOINT_INVALID',
      ({ evidence }) =>
        (evidence.inclusion.checkpoint.note = evidence.inclusion.checkpoint.note.replace(/\n\d+\n/, '\n1\n')),
    ],
    ['a decision away', 'LINK_MISMATCH', ({ decisions }) => decisions.pop()],
    ['a decision twice', 'LINK_MISMATCH', ({ decisions }) => decisions.push(...proof.decisions.slice(0, 1))],
    [
      'the time of a decision',
      'HASH_MISMATCH',
      ({ decisions }) => decisions.map(({ receipt }) => (receipt.payload.issued_at = proof.signed.report.started_at)),
    ],
    [
      'the record of a decision',
      'RECORD_HASH_MISMATCH',
      ({ decisions }) => decisions.map(({ record }) => (record.matched_rules = ['another'])),
    ],
    ['a member more', 'MALFORMED', (shown) => Object.assign(shown, { note: 'all is well' })],
  ])('is refused: %s', (_what, code, change) => {
    expect(codeOf(changed((shown) => void change(shown)))).toBe(code);
  });

  it('is refused for other vectors, another log, and keys that were revoked or not valid then', () => {
    expect(codeOf(proof, { vectorsHash: `sha256:${'0'.repeat(64)}` })).toBe('HASH_MISMATCH');
    expect(codeOf(proof, { origin: 'log.example.org/another' })).toBe('CHECKPOINT_INVALID');
    const but = (change: Partial<TrustedKey>) =>
      codeOf(proof, { trust: keys.map((key) => (key.purpose === 'receipts' ? { ...key, ...change } : key)) });
    expect(but({ revoked_at: '2020-01-01T00:00:00.000Z', valid_from: '2019-01-01T00:00:00.000Z' })).toBe('KEY_REVOKED');
    expect(but({ valid_from: '2999-01-01T00:00:00.000Z' })).toBe('KEY_NOT_VALID_YET');
    expect(codeOf(proof, { trust: keys.filter(({ purpose }) => purpose !== 'log') })).toBe('KEY_UNKNOWN');
  });
});

describe('a kernel that lies under its own key', () => {
  /** The report is signed and evidence as every other; only what it says is not so. */
  async function lying(lie: (report: ConformanceReport) => void): Promise<string> {
    const report = structuredClone(proof.signed.report);
    lie(report);
    const { context, url } = test.kernel;
    const signer = context.signers.receipts;
    const signed = await attestReport({ ...context, signer }, { report, by: 'admin' as PrincipalId }); // within its schema
    const client = createKernelClient({ baseUrl: url, apiKey: adminKey });
    await client.as({ tenant: 'acme' }).createCheckpoint();
    const empty = { ...signed, report: { ...report, results: [] } };
    const { evidence } = await collectProof(client, { signed: empty, vectors: proof.vectors });
    return codeOf({ ...proof, signed, evidence });
  }
  const noRule = (report: ConformanceReport) => resultOf(report, 'door.evaluate-no-rule');

  it('is believed when it says what was so', async () => {
    expect(await lying(() => undefined)).toBe('VERIFIED');
  });

  it.each<[string, string, (report: ConformanceReport) => unknown]>([
    ['leaves a vector out', 'LINK_MISMATCH', (report) => (report.results.pop(), (report.passed -= 1))],
    ['tells a vector of another name', 'LINK_MISMATCH', (report) => (noRule(report).vector_id = 'door.other' as never)],
    ['passes a vector in which nothing was seen', 'VERDICT_MISMATCH', (report) => (noRule(report).seen = [])],
    [
      'passes a vector that saw another answer',
      'VERDICT_MISMATCH',
      (report) => noRule(report).seen.map((each) => Object.assign(each, { verdict: 'ALLOW', reason_code: 'ALLOWED' })),
    ],
    [
      'passes an injected fault that was let through',
      'VERDICT_MISMATCH',
      (report) =>
        resultOf(report, 'fault.pdp-throws').seen.map((each) =>
          Object.assign(each, { verdict: 'ALLOW', reason_code: 'ALLOWED' }),
        ),
    ],
    [
      'names a verdict without its receipt',
      'VERDICT_MISMATCH',
      (report) => noRule(report).seen.map((each) => (each.receipt_id = null)),
    ],
    [
      'skips what it can execute',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'skipped', seen: [] }),
        (report.passed -= 1),
        (report.skipped += 1)
      ),
    ],
    [
      'passes with a vector that failed',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'failed', detail: 'seen' }),
        (report.passed -= 1),
        (report.failed += 1)
      ),
    ],
    ['counts one more', 'VERDICT_MISMATCH', (report) => (report.passed += 1)],
    [
      'fails, and says not why',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'failed' }),
        (report.verdict = 'FAIL'),
        (report.passed -= 1),
        (report.failed += 1)
      ),
    ],
    ['calls itself short', 'LINK_MISMATCH', (report) => (report.scope = 'short')],
    [
      'shows the receipts of another run',
      'LINK_MISMATCH',
      (report) => (report.report_id = 'cfr_01ARZ3NDEKTSV4RRFFQ69G5FAV' as never),
    ],
    [
      'shows the receipt of another vector',
      'LINK_MISMATCH',
      (report) =>
        noRule(report).seen.map(
          (each) => (each.receipt_id = resultOf(report, 'door.execute-unknown-tool').seen[0]?.receipt_id ?? null),
        ),
    ],
    ['shows receipts from before its run', 'TIME_MISMATCH', (report) => (report.started_at = report.ended_at)],
    ['says that the log was longer', 'LINK_MISMATCH', (report) => (report.tree_size = 1_000_000)],
  ])('is found out when it %s', async (_what, code, lie) => {
    expect(await lying((report) => void lie(report))).toBe(code);
  });
});
