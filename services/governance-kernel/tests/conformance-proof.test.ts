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
import { runCli } from '../../../packages/verifier/src/run-cli.ts';
import { collectProof } from '../src/evidence/conformance/collect-proof.ts';
import { runCommand } from '../src/evidence/conformance/run-command.ts';
import { attestReport } from '../src/evidence/conformance/report.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-conformance-'));
const file = (name: string) => join(folder, name);

let test: TestKernel;
let ran: Awaited<ReturnType<typeof command>>;
let proof: ConformanceProof;
let keys: TrustedKey[];

async function command(url: string, ...options: string[]) {
  const written: string[] = [];
  const messages: string[] = [];
  const streams = { write: (text: string) => written.push(text), tell: (text: string) => messages.push(text) };
  const status = await runCommand([url, '--key-file', file('key'), ...options], streams); // the lengths that `push` returns are unused
  return { status, out: written.join(''), told: messages.join('') };
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
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await test.close();
});

const answerTo = (shown: unknown, request: { trust?: TrustedKey[]; vectorsHash?: string; origin?: string } = {}) =>
  conformanceAnswer(shown, { trust: keys, provider: nodeProvider, ...request });
const codeOf = (...requests: Parameters<typeof answerTo>) => answerTo(...requests).fault?.code ?? 'VERIFIED';

describe('the conformance command', () => {
  verifies('kn.conformance', 'runs the vectors on a deployment over HTTP and verifies the evidence', () => {
    expect([ran.status, JSON.parse(ran.out)]).toMatchObject([
      0,
      { verdict: 'VERIFIED', conformance: { verdict: 'PASS', scope: 'full', failed: 0 }, failed: [] },
    ]);
    expect(ran.told).toMatch(/^\d+ vectors; a full run is in progress\n/);
    expect(proof.decisions.length).toBeGreaterThan(40);
    expect(answerTo(proof).conformance).toMatchObject({ verdict: 'PASS', decisions: proof.decisions.length });
  });

  it('writes a proof that the offline verifier accepts only for the expected vectors', async () => {
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

  it('exits with 1 when a gate is broken, and prints the failed vectors of the verified report', async () => {
    const broken = { ...gates, budget: () => ({ outcome: 'pass' }) as const };
    const second = await startTestKernel({ overrides: { gates: broken }, twins: false });
    const { status, out, told } = await command(second.kernel.url, '--scope', 'short');
    await second.close();
    expect([status, out]).toEqual([1, expect.stringMatching(/^VERIFIED: FAIL, short run: \d+ passed, [1-9]/)]);
    expect(out).toMatch(/^ {2}failed: fault\.budget-spent: expected DENY/m);
    expect(told).toContain('Pass keys that you trust with --keys');
  });

  it('exits with 2 when it cannot run, and a proof under untrusted keys is UNDECIDABLE', async () => {
    writeFileSync(file('key'), 'another-key\n');
    expect((await command(test.kernel.url)).status).toBe(2);
    writeFileSync(file('key'), `${adminKey}\n`);
    expect((await command('http://127.0.0.1:1')).status).toBe(2);
    expect((await command(test.kernel.url, '--scope', 'none')).status).toBe(2);
    const messages: string[] = [];
    const streams = { write: () => undefined, tell: (text: string) => void messages.push(text) };
    const notHere = () => {
      throw new Error('no kernel is looked for when one is half named');
    };
    expect(await runCommand(['--key-file', file('key')], streams, notHere)).toBe(2);
    expect(await runCommand([], streams)).toBe(2);
    expect(messages).toEqual([expect.stringContaining('pass the URL'), expect.stringContaining('pass the URL')]);
    const strangers = keys.map(({ key_id: _, ...key }, nth) => ({ ...key, key_id: `stranger-${nth}` }));
    expect(answerTo(proof, { trust: strangers })).toMatchObject({ verdict: 'UNDECIDABLE', conformance: null });
  });
});

/** The proof with a change that was made without a signing key. */
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

it('collecting a proof stops when the report names too many receipts', async () => {
  const client = createKernelClient({ baseUrl: test.kernel.url, apiKey: adminKey });
  const { signed, vectors } = proof;
  await expect(collectProof(client, { signed, vectors, withinMs: 20 })).rejects.toThrow('too many to read in time');
});

describe('a changed proof or request', () => {
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
    ['a missing vector', 'HASH_MISMATCH', ({ vectors }) => vectors.pop()],
    ['the title of a vector', 'HASH_MISMATCH', ({ vectors }) => vectors.map((vector) => (vector.title = 'Another'))],
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
    ['a missing decision', 'LINK_MISMATCH', ({ decisions }) => decisions.pop()],
    ['a repeated decision', 'LINK_MISMATCH', ({ decisions }) => decisions.push(...proof.decisions.slice(0, 1))],
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
    ['an unknown member', 'MALFORMED', (shown) => Object.assign(shown, { note: 'all is well' })],
  ])('is refused: %s', (_what, code, change) => {
    expect(codeOf(changed((shown) => void change(shown)))).toBe(code);
  });

  it('is refused for different vectors, a different log, and keys that are revoked, not yet valid or missing', () => {
    expect(codeOf(proof, { vectorsHash: `sha256:${'0'.repeat(64)}` })).toBe('HASH_MISMATCH');
    expect(codeOf(proof, { origin: 'log.example.org/another' })).toBe('CHECKPOINT_INVALID');
    const but = (change: Partial<TrustedKey>) =>
      codeOf(proof, { trust: keys.map((key) => (key.purpose === 'receipts' ? { ...key, ...change } : key)) });
    expect(but({ revoked_at: '2020-01-01T00:00:00.000Z', valid_from: '2019-01-01T00:00:00.000Z' })).toBe('KEY_REVOKED');
    expect(but({ valid_from: '2999-01-01T00:00:00.000Z' })).toBe('KEY_NOT_VALID_YET');
    expect(codeOf(proof, { trust: keys.filter(({ purpose }) => purpose !== 'log') })).toBe('KEY_UNKNOWN');
  });
});

describe('a report that the kernel signed with its own key', () => {
  /** Signs and seals a false report in the same way as a true one. */
  async function lying(lie: (report: ConformanceReport) => void): Promise<string> {
    const report = structuredClone(proof.signed.report);
    lie(report);
    const { context, url } = test.kernel;
    const signer = context.signers.receipts;
    const signed = await attestReport({ ...context, signer }, { report, by: 'admin' as PrincipalId }); // matches the schema
    const client = createKernelClient({ baseUrl: url, apiKey: adminKey });
    await client.as({ tenant: 'acme' }).createCheckpoint();
    const empty = { ...signed, report: { ...report, results: [] } };
    const { evidence } = await collectProof(client, { signed: empty, vectors: proof.vectors });
    return codeOf({ ...proof, signed, evidence });
  }
  const noRule = (report: ConformanceReport) => resultOf(report, 'door.evaluate-no-rule');

  it('is accepted when it is true', async () => {
    expect(await lying(() => undefined)).toBe('VERIFIED');
  });

  it.each<[string, string, (report: ConformanceReport) => unknown]>([
    ['omits a vector', 'LINK_MISMATCH', (report) => (report.results.pop(), (report.passed -= 1))],
    ['names another vector', 'LINK_MISMATCH', (report) => (noRule(report).vector_id = 'door.other' as never)],
    ['passes a vector without an answer', 'VERDICT_MISMATCH', (report) => (noRule(report).seen = [])],
    [
      'passes a vector with another answer',
      'VERDICT_MISMATCH',
      (report) => noRule(report).seen.map((each) => Object.assign(each, { verdict: 'ALLOW', reason_code: 'ALLOWED' })),
    ],
    [
      'passes an injected fault that was allowed',
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
      'skips a vector that it can execute',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'skipped', seen: [] }),
        (report.passed -= 1),
        (report.skipped += 1)
      ),
    ],
    [
      'reports PASS with a failed vector',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'failed', detail: 'seen' }),
        (report.passed -= 1),
        (report.failed += 1)
      ),
    ],
    ['counts one passed vector too many', 'VERDICT_MISMATCH', (report) => (report.passed += 1)],
    [
      'reports a failure without a reason',
      'VERDICT_MISMATCH',
      (report) => (
        Object.assign(noRule(report), { outcome: 'failed' }),
        (report.verdict = 'FAIL'),
        (report.passed -= 1),
        (report.failed += 1)
      ),
    ],
    ['reports a short run', 'LINK_MISMATCH', (report) => (report.scope = 'short')],
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
    ['reports a larger log', 'LINK_MISMATCH', (report) => (report.tree_size = 1_000_000)],
  ])('is rejected when the report %s', async (_what, code, lie) => {
    expect(await lying((report) => void lie(report))).toBe(code);
  });
});
