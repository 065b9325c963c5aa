import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { portableProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyText, type TrustedKey } from '@countersign/verifier';
import { movableClock } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { packOf, type Pack } from './_pack.ts';
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
  verifies('kn.evidence.export', 'is deterministic, names its hash, and verifies without the server', async () => {
    const [first, second] = [await packOf(test), await packOf(test)];
    expect(second.text).toBe(first.text);
    expect(first.hash).toBe(`sha256:${createHash('sha256').update(first.text).digest('hex')}`);
    const report = reportOn(first);
    expect(report).toMatchObject({ verdict: 'VERIFIED', fault: null, missing: [], receipts: 8 });
    expect(report.pack).toMatchObject({
      scope: { tenant_id: 'acme', sessions: null, issued: null },
      counts: { receipts: 8, sessions: 3, policies: 1, unbacked_votes: 0 },
      stated: { receipts: 8 },
    });
    expect(verifyText(first.text, { trust, provider: portableProvider, tenant: 'acme' })).toEqual(report);
  });
});
