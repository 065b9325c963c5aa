import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, type TrustedKey } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import { startKernelProcess } from './_kernel-process.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { after, revokeKeys, rotateKeys } from './_revoked.ts';
import { newSession, seal, sealMany } from './_seal.ts';

const began = new Date().toISOString();
const now = () => new Date().toISOString();
const firsts = 40;

let test: TestKernel;
let trust: TrustedKey[];
beforeAll(async () => {
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
  const long = newSession();
  await sealMany(test, firsts, { session_id: long });
  await sealMany(test, firsts);
  trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
});
afterAll(() => test.close());

async function exportOf(
  period: { from: string; to: string },
  { url }: { url: string } = test.kernel,
): Promise<Response> {
  const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' };
  return await fetch(`${url}/api/v1/receipts/export?from=${period.from}&to=${period.to}`, { headers });
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

function reportOn(text: string) {
  return verifyExport(linesOf(text), { trust, provider: nodeProvider, tenant: 'acme' });
}

async function statements(): Promise<number> {
  const { body } = await test.as('acme').listReceipts({ query: { kind: 'period' } as never }); // the schema fills in the limits
  return body.data.length;
}

describe('the export of a period', () => {
  it('is one consistent cut of the log, and each receipt belongs to exactly one of two adjacent periods', async () => {
    const middle = now();
    const loading = sealMany(test, 60);
    const first = await exportOf({ from: began, to: middle });
    const second = await exportOf({ from: began, to: now() });
    const [whole, grown] = await Promise.all([first.text(), second.text()]);
    await loading;
    for (const text of [whole, grown]) expect(reportOn(text)).toMatchObject({ verdict: 'VERIFIED', fault: null });
    expect(reportOn(whole).receipts).toBeGreaterThanOrEqual(2 * firsts);
    const end = now();
    const rest = reportOn(await (await exportOf({ from: middle, to: end })).text());
    const all = reportOn(await (await exportOf({ from: began, to: end })).text());
    expect(all.receipts).toBeGreaterThanOrEqual(2 * firsts + 60);
    expect(all).toMatchObject({ verdict: 'VERIFIED', receipts: reportOn(whole).receipts + rest.receipts });
  });

  it('uses none of the database connections that decisions need', async () => {
    const { exports } = test.kernel.context;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const snapshot = [1, 2].map(() => exports.transaction(() => released)); // all connections for exports
    try {
      const waiting = exportOf({ from: began, to: now() });
      expect(await seal(test)).toMatchObject({ reason_code: 'ALLOWED' });
      release();
      expect(reportOn(await (await waiting).text()).verdict).toBe('VERIFIED');
    } finally {
      release();
      await Promise.all(snapshot);
    }
  });

  it('seals no statement when its reader disconnects early', async () => {
    const before = await statements();
    const response = await exportOf({ from: began, to: now() });
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await seal(test);
    expect(await statements()).toBe(before);
  });

  it('proves a receipt of a revoked key by an earlier checkpoint, and fails without one', async () => {
    const head = await test.kernel.context.checkpoints.create();
    const to = now();
    await seal(test);
    const keys = await rotateKeys(test, ['receipts']);
    await revokeKeys(test, keys, after(head));
    trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
    const report = async (end: string) => reportOn(await (await exportOf({ from: began, to: end })).text());
    expect(await report(to)).toMatchObject({ verdict: 'VERIFIED', fault: null });
    // When the key was revoked, no checkpoint covered the last receipt yet.
    expect((await report(now())).fault?.code).toBe('KEY_REVOKED');
    await asAdministrator(test, 'UPDATE kernel.trust_keys SET revoked_at = NULL WHERE key_id = ANY($1)', [keys]);
    trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
  });

  verifies('kn.chain', 'is not verified when its kernel was killed before the end', async () => {
    await sealMany(test, 400);
    const dying = await startKernelProcess(test.env);
    const response = await exportOf({ from: began, to: now() }, dying);
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    let read = '';
    for (; linesOf(read).length < 2;) read += Buffer.from((await reader?.read())?.value ?? []).toString();
    await dying.kill();
    const rest = async () => {
      for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read())
        read += Buffer.from(chunk.value).toString();
    };
    await expect(rest()).rejects.toThrow();
    const whole = read.slice(0, read.lastIndexOf('\n'));
    expect(reportOn(whole)).toMatchObject({
      verdict: 'INCOMPLETE',
      missing: ['the statement of the period, which stands at its end'],
    });
    expect(reportOn(read).verdict).not.toBe('VERIFIED');
  });

  it.each([
    ['in the middle of a session', 'lamport_clock = 20'],
    ['at the end of a session', 'lamport_clock = 40'],
    ['at the start of a session', 'lamport_clock = 1'],
  ])('fails or breaks off when the ledger lacks a receipt %s', async (_where, place) => {
    const long = `session_id = (SELECT session_id FROM kernel.session_heads WHERE lamport_clock = ${firsts})`;
    const whole = `SELECT * FROM kernel.ledger WHERE ${long} AND ${place}`;
    await asAdministrator(test, `CREATE TABLE kernel.taken AS ${whole}`);
    try {
      await asAdministrator(test, `DELETE FROM kernel.ledger WHERE ${long} AND ${place}`);
      const response = await exportOf({ from: began, to: now() });
      // If no line was sent yet, the status can still report the error.
      const answer = await response.text().then(
        () => response.status,
        () => 'broken off',
      );
      expect([500, 'broken off']).toContain(answer);
    } finally {
      await asAdministrator(test, 'INSERT INTO kernel.ledger SELECT * FROM kernel.taken');
      await asAdministrator(test, 'DROP TABLE kernel.taken');
    }
  });
});
