import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeStory } from '@countersign/testkit/describe-story';
import { createClient } from '@countersign/contracts';
import { checkExport } from '@countersign/contracts/control-plane';
import { createCheckpoint, listTrustKeys } from '@countersign/contracts/governance-kernel';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { encodeBase64Url } from '@countersign/crypto';
import type { StartedSystem } from '@countersign/local';
import type { Browser } from 'playwright-core';
import { openChromium, openVisitor, type Visitor } from './_console.ts';
import { endOf, receiptsOf, start } from './_console-runs.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, inDatabase, kernelClient, scratchDataDir, startIn } from './_system.ts';

const address = addressBook();
const dataDir = scratchDataDir();
const command = fileURLToPath(new URL('../../packages/verifier/dist/cli.js', import.meta.url));
let system: StartedSystem;
let browser: Browser;
let ada: Person;

beforeAll(async () => {
  // The file has its own system, because it revokes the key of the whole installation, and gateways never forget a
  // revocation.
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' });
  browser = await openChromium();
  ada = await personAt(system.gatewayUrl, address('ada'));
});

afterAll(async () => {
  await browser?.close();
  await system?.stop();
  dataDir.remove();
});

const headers = () => ({ authorization: `Bearer ${system.adminApiKey}` });
const newestHead = async () => {
  const log = createClient({ createCheckpoint }, { baseUrl: system.kernelUrl, headers });
  return Date.parse((await log.createCheckpoint()).body.created_at);
};

async function call(tool: string): Promise<string> {
  const { key } = (await ada.client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const evaluated = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'tool.call', tool, effect_level: 'E1', session_id: 'rotated', args: {} }),
  });
  const text = await evaluated.text();
  expect([evaluated.status, text]).toEqual([200, text]);
  return (JSON.parse(text) as { receipt_id: string }).receipt_id;
}

async function publish(object_id: string) {
  const at = { 'x-workspace-id': ada.workspaceId };
  const body = { object_id, public: true };
  return ada.tab.send('/api/audit/handles', { method: 'POST', body, headers: at });
}

/**
 * The steps of `docs/operations.md`: a new key for each service, a checkpoint, and the revocation directly after it.
 */
async function rotateAndRevoke(): Promise<void> {
  await system.stop();
  const file = join(dataDir.path, 'secrets.json');
  const secrets = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  const old = createSigner(secrets['signingKey'] ?? '');
  const formerSigningPublicKeys = encodeBase64Url(old.publicKey);
  const renewed = { ...secrets, signingKey: generateSigningKey().privateKeyPem, formerSigningPublicKeys };
  writeFileSync(file, JSON.stringify(renewed));
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0' });
  ada = await personAt(system.gatewayUrl, address('ada'));
  await inDatabase(dataDir.path, {
    schema: 'kernel',
    statement: 'UPDATE trust_keys SET revoked_at = $1 WHERE key_id = $2',
    values: [new Date((await newestHead()) + 1), old.keyId],
  });
}

describeStory('a receipt of a key that was replaced and revoked as documented', () => {
  let receiptId: string;
  let handle: string;
  let keys: string;
  let exported: string;
  let visitor: Visitor;

  beforeAll(async () => {
    receiptId = await call('crm.read');
    handle = String((await publish(receiptId)).body['handle']);
    await rotateAndRevoke();
    await call('crm.list');
    keys = JSON.stringify((await createClient({ listTrustKeys }, { baseUrl: system.kernelUrl }).listTrustKeys()).body);
    const query = { session_id: 'rotated' } as never; // a plain name
    const { body } = await kernelClient(system, ada.workspaceId).exportReceipts({ query });
    exported = body.map((line) => `${JSON.stringify(line)}\n`).join('');
    visitor = await openVisitor(browser, system.consoleUrl);
  });
  afterAll(() => visitor?.context.close());

  it('verifies on its page of the console', async () => {
    const { page, context } = visitor;
    const post = (step: string, data: object) =>
      context.request.post(`/api/auth/login/${step}`, { data, headers: { 'sec-fetch-site': 'same-origin' } });
    const { login_id, code } = (await (await post('begin', { email: ada.email })).json()) as Record<string, string>;
    expect((await post('finish', { login_id, code })).ok()).toBe(true);
    await page.goto('/console/activity?tool=crm.read');
    await page.getByRole('table').waitFor();
    await page.keyboard.press('v');
    await page.getByText('Verified in this browser').waitFor();
  });

  it('can be published after the revocation', async () => {
    const { status, text } = await publish(receiptId);
    expect([status, text]).toEqual([201, text]);
  });

  it('verifies on its public page with the keys of the kernel, and so does the original', async () => {
    const { body: original } = await kernelClient(system, ada.workspaceId).getReceipt({
      params: { receipt_id: receiptId },
    });
    for (const opened of [handle, String((await publish(receiptId)).body['handle'])]) {
      const { page } = visitor;
      await page.goto(`/console/p/${opened}`);
      await page.getByLabel('Keys that you trust').fill(keys);
      await page.getByText('You entered these keys.').waitFor();
      await page.getByRole('button', { name: 'Verify here' }).click();
      await page.getByText('Drop the original to check').waitFor();
      const buffer = Buffer.from(JSON.stringify(original));
      await page.locator('#original').setInputFiles({ name: 'receipt.json', mimeType: 'application/json', buffer });
      await page.getByText('The file is the original').waitFor();
    }
  });

  it('verifies with POST /api/v1/verify and with the command, with the same results', async () => {
    const route = createClient({ checkExport }, { baseUrl: system.gatewayUrl });
    const { body } = await route.checkExport({ body: { export: exported, expect: {} } });
    const [exportFile, keysFile] = [join(dataDir.path, 'export.jsonl'), join(dataDir.path, 'keys.json')];
    writeFileSync(exportFile, exported);
    writeFileSync(keysFile, keys);
    const args = [command, exportFile, '--keys', keysFile, '--json'];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const { verdict, integrity, completeness, signer, time, receipts } = JSON.parse(stdout) as Record<string, unknown>;
    const answers = { verdict, integrity, completeness, signer, time, receipts };
    expect(answers).toMatchObject({ verdict: 'VERIFIED', time: 'LOGGED', receipts: 2 });
    expect(body).toMatchObject(answers);
  });

  it('is shown as verified in its run only if a checkpoint contained it before the revocation of its key', async () => {
    const { body } = await start(ada, { title: 'Read', description: 'say hello' });
    await endOf(ada, body['run_id']);
    const faults = async () => new Set((await receiptsOf(ada, body['run_id'])).map(({ fault }) => fault));
    const seenAt = await newestHead();
    const revoke = (at: number) =>
      inDatabase(dataDir.path, {
        schema: 'kernel',
        statement: "UPDATE trust_keys SET revoked_at = $1 WHERE purpose = 'receipts'",
        values: [new Date(at)],
      });
    await revoke(seenAt + 1);
    expect(await faults()).toEqual(new Set([null]));
    await revoke(seenAt - 3_600_000);
    expect(await faults()).toEqual(new Set(['KEY_REVOKED']));
  });
});
