import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { portableProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyText, type TrustedKey } from '@countersign/verifier';
import { movableClock } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { askPack, packOf, type Pack } from './_pack.ts';
import { newSession, seal } from './_seal.ts';

const time = movableClock('2026-03-01T00:00:00.000Z');
const moveTo = (instant: string) => time.advance(Date.parse(instant) - time.clock().getTime());

let test: TestKernel;
let trust: TrustedKey[];
const [one, two] = [newSession(), newSession()];

beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('acme', starterPolicy);
  for (const tool of ['files.read', 'files.delete', 'pay.send']) {
    await seal(test, { session_id: one, tool });
    await seal(test, { tenant: 'globex', session_id: one, tool });
    await seal(test, { session_id: two, tool });
  }
  trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
});
afterAll(() => test.close());

const reportOn = ({ text }: Pack, pinned: object = {}) =>
  verifyText(text, { trust, provider: nodeProvider, tenant: 'acme', ...pinned });

describe('POST /api/v1/evidence/export', () => {
  verifies('kn.evidence.export', 'is deterministic, returns its hash, and verifies without the server', async () => {
    await test.activate('still', starterPolicy);
    await seal(test, { tenant: 'still', session_id: one });
    const [first, second] = [await packOf(test, {}, 'still'), await packOf(test, {}, 'still')];
    expect(second.text).toBe(first.text);
    expect(first.hash).toBe(`sha256:${createHash('sha256').update(first.text).digest('hex')}`);
    const report = reportOn(first, { tenant: 'still' });
    expect(report).toMatchObject({ verdict: 'VERIFIED', fault: null, missing: [], receipts: 2 });
    expect(report.pack).toMatchObject({
      scope: { tenant_id: 'still', sessions: null, issued: null },
      counts: { receipts: 2, sessions: 2, policies: 1, unbacked_votes: 0 },
      stated: { receipts: 2 },
    });
    expect(verifyText(first.text, { trust, provider: portableProvider, tenant: 'still' })).toEqual(report);
  });

  verifies('kn.evidence.export', 'returns the same bytes until one of its own sessions has a new receipt', async () => {
    const first = await packOf(test, { sessions: [one] });
    await seal(test, { tenant: 'globex', session_id: one });
    await seal(test, { session_id: two });
    expect((await packOf(test, { sessions: [one] })).text).toBe(first.text);
    await seal(test, { session_id: one });
    expect(reportOn(await packOf(test, { sessions: [one] }))).toMatchObject({ verdict: 'VERIFIED', receipts: 4 });
  });

  verifies('kn.evidence.export', 'leaves no gap and no overlap between two adjacent ranges', async () => {
    const whole = reportOn(await packOf(test));
    const end = whole.pack?.scope.leaves.to ?? 0;
    const pieces = await Promise.all(
      [
        { from: 0, to: 5 },
        { from: 5, to: end },
      ].map(async (leaves) => reportOn(await packOf(test, { leaves }))),
    );
    expect(pieces.map(({ verdict }) => verdict)).toEqual(['VERIFIED', 'VERIFIED']);
    expect(pieces.reduce((sum, { receipts }) => sum + receipts, 0)).toBe(whole.receipts);
  });

  verifies('kn.evidence.export', 'returns the same receipts of a period after more receipts were sealed', async () => {
    moveTo('2026-03-02T00:00:00.000Z');
    const session_id = newSession();
    await seal(test, { session_id });
    moveTo('2026-03-02T01:00:00.000Z');
    await seal(test, { session_id });
    const issued = { from: '2026-03-02T00:00:00.000Z', to: '2026-03-02T00:30:00.000Z' };
    const first = await packOf(test, { issued });
    expect(reportOn(first, issued)).toMatchObject({ verdict: 'VERIFIED', receipts: 1 });
    await seal(test, { session_id });
    expect((await packOf(test, { issued })).text).toBe(first.text);
    expect(reportOn(first, { ...issued, to: '2026-03-02T00:31:00.000Z' }).fault?.code).toBe('SUBJECT_MISMATCH');
    const soon = { from: issued.from, to: '2026-03-02T00:59:30.000Z' };
    await expect(packOf(test, { issued: { ...soon, to: '2026-03-02T01:00:00.000Z' } })).rejects.toThrow(
      /at least a minute ago/,
    );
  });

  verifies('kn.tenants', 'contains nothing of other tenants', async () => {
    const pack = await packOf(test);
    expect(pack.text).not.toContain('globex');
    expect((await askPack(test.kernel.url, { sessions: [two] }, 'globex')).status).toBe(404);
    expect(reportOn(await packOf(test, {}, 'globex')).fault?.code).toBe('SUBJECT_MISMATCH');
    expect(reportOn(await packOf(test, {}, 'empty'), { tenant: 'empty' })).toMatchObject({
      ...{ verdict: 'VERIFIED', completeness: 'COMPLETE', receipts: 0 },
    });
  });

  it('refuses two scopes at once, a range beyond the log, and an empty list of sessions', async () => {
    const refused = [{ sessions: [one], leaves: { from: 0 } }, { leaves: { from: 0, to: 9_999 } }, { sessions: [] }];
    const statuses = refused.map(async (request) => (await askPack(test.kernel.url, request)).status);
    expect(await Promise.all(statuses)).toEqual([400, 400, 400]);
  });

  it('returns a pack whose report names the signing keys and the checkpoints', async () => {
    const { signers, log } = reportOn(await packOf(test));
    expect(signers.map(({ purpose }) => purpose).toSorted()).toEqual(['log', 'policies', 'receipts']);
    expect(log?.checkpoints.length).toBeGreaterThan(1);
  });
});

describe('POST /api/v1/evidence/verify', () => {
  const judge = (body: object) => test.as('acme').verifyEvidence({ body: body as never }); // plain strings, as a third party sends them

  verifies('kn.evidence.verify', 'returns the same report as the command and the browser', async () => {
    const { text } = await packOf(test);
    const cut = `${text.split('\n').slice(0, -2).join('\n')}\n`;
    const { body: keys } = await test.as('acme').listTrustKeys();
    for (const evidence of [text, cut, 'no evidence', text.replace('files.read', 'files.reap')]) {
      const { body } = await judge({ evidence, keys: keys.keys });
      expect(body).toEqual(verifyText(evidence, { trust, provider: nodeProvider }));
      expect(verifyText(evidence, { trust, provider: portableProvider })).toEqual(body);
    }
    expect((await judge({ evidence: cut })).body).toMatchObject({ verdict: 'INCOMPLETE', completeness: 'INCOMPLETE' });
  });

  verifies('kn.evidence.verify', 'reports receipts that the caller expects and the evidence lacks', async () => {
    const { text } = await packOf(test, { sessions: [one] });
    const contains = [`sha256:${'0'.repeat(64)}`];
    const { body } = await judge({ evidence: text, expect: { contains } });
    expect([body.verdict, body.missing]).toEqual([
      'INCOMPLETE',
      [`the receipt ${String(contains)}, which was required`],
    ]);
  });

  verifies('kn.evidence.verify', 'rejects hostile evidence without delaying decisions', async () => {
    const { lines } = await packOf(test);
    const bomb = `{"proof":${'['.repeat(900_000)}`;
    const wide = `{"a":[${'{"b":1},'.repeat(190_000)}1]}`;
    const names = `{${Array.from({ length: 150_000 }, (_, at) => `"m${at}":1`).join(',')}}`;
    const header = `${lines[0] ?? ''}\n`;
    const hostile = [bomb, wide, names, header + bomb, header + wide, header + names, '\n'.repeat(1_000_000), '\u0000'];
    const answers = Promise.all(hostile.slice(0, 8).map((evidence) => judge({ evidence })));
    const first = await Promise.race([seal(test).then(() => 'decided'), answers.then(() => 'verified')]);
    const verdicts = (await answers).map(({ body }) => body.verdict);
    expect(first).toBe('decided');
    expect(verdicts).not.toContain('VERIFIED');
    expect((await judge({ evidence: (await packOf(test)).text })).body.verdict).toBe('VERIFIED');
  });

  it('uses the keys of the caller instead of its own', async () => {
    const { text } = await packOf(test);
    const { keys } = (await test.as('acme').listTrustKeys()).body;
    const receipts = keys.filter(({ purpose }) => purpose === 'log');
    expect((await judge({ evidence: text, keys: receipts })).body).toMatchObject({
      verdict: 'UNDECIDABLE',
      signer: 'UNKNOWN',
    });
    await expect(judge({ evidence: text, keys: [...keys, ...keys] })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });
});

describe('POST /api/v1/replay/verify', () => {
  const replay = (body: object) => test.as('acme').verifyReplay({ body: body as never }); // as above
  const stricter = starterPolicy.replace('effect: allow', 'effect: deny');

  verifies('kn.replay', 'reproduces the recorded decisions with the policies of the pack', async () => {
    const { text: evidence } = await packOf(test, { sessions: [two] });
    const { body } = await replay({ evidence });
    expect(body).toMatchObject({ policy: 'recorded', diverged: 0, unreplayable: 0, first_divergence: null });
    expect(body.evidence).toEqual({ verdict: 'VERIFIED', fault: null });
    expect(body.match).toBe(body.decisions);
    expect(body.decisions).toBeGreaterThan(2);
  });

  verifies('kn.replay', 'reports the first divergence under a different policy, with both verdicts', async () => {
    const { text: evidence } = await packOf(test, { sessions: [one] });
    const { body } = await replay({ evidence, policy: stricter });
    const [first] = body.results;
    expect(body.first_divergence).toEqual(first);
    expect(first).toMatchObject({ outcome: 'DIVERGED', recorded: { verdict: 'ALLOW' }, replayed: { verdict: 'DENY' } });
    await expect(replay({ evidence, policy: 'no: bundle' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  verifies('kn.replay', 'reports a decision as UNREPLAYABLE with the field that its record lacks', async () => {
    const { text: evidence } = await packOf(test, { sessions: [one] });
    const policy = starterPolicy.replace('effect: allow', 'effect: allow\n    when: args.amount < 5');
    const { body } = await replay({ evidence, policy });
    expect(body.results[0]).toMatchObject({ outcome: 'UNREPLAYABLE', replayed: null, missing: ['args.amount'] });
    expect(body.unreplayable).toBeGreaterThan(0);
  });

  verifies('kn.replay', 'replays only the decisions before the first one that does not verify', async () => {
    const { text: evidence } = await packOf(test, { sessions: [one] });
    const { body } = await replay({ evidence: evidence.replace('files.delete', 'files.remove') });
    expect([body.evidence.verdict, body.decisions]).toEqual(['NOT_VERIFIED', 1]);
  });
});
