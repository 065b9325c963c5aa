import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authenticator } from '@countersign/testkit/authenticator';
import type { Browser, Page } from 'playwright-core';
import { askAs, axeFindings, openChromium, openVisitor, signInByKeyboard, typeInto, type Visitor } from './_console.ts';
import { Keyboard } from './_keyboard.ts';
import { addressBook, until } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const timeoutMs = 180_000;
const kernelOrigin = 'http://localhost:8080';
const hostile = `<img src=x onerror="alert(1)">\u202e`;
const shownHostile = `<img src=x onerror=\\"alert(1)\\">⟨U+202E⟩`;

let system: SharedSystem;
let browser: Browser;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  system = await sharedSystem();
  browser = await openChromium();
  visitor = await openVisitor(browser, system.consoleUrl);
  page = visitor.page;
  await page.goto('/console/inbox');
  await signInByKeyboard(page, address('founder'));
}, timeoutMs);

afterAll(async () => {
  await browser?.close();
}, timeoutMs);

type Session = { user_id: string; csrf_token: string };
type Me = { workspaces: { id: string }[] };
const asked = async <Body>(path: string): Promise<Body> => (await (await askAs(visitor, path)).json()) as Body; // the caller knows

/** A run that waits for leave to write a file, and the inbox with its card chosen. */
async function waitingCall(path: string, content = 'Dear customer'): Promise<void> {
  const { csrf_token: token } = await asked<Session>('/api/session');
  const { workspaces } = await asked<Me>('/api/me');
  const headers = {
    'content-type': 'application/json',
    'x-csrf-token': token,
    'sec-fetch-site': 'same-origin',
    'x-workspace-id': workspaces[0]?.id ?? '',
  };
  const description = `call:files__write_file ${JSON.stringify({ path: join(system.filesDir, path), content })}`;
  const body = JSON.stringify({ title: path, description });
  const created = await askAs(visitor, '/api/tasks', { method: 'POST', headers, body });
  const { id } = (await created.json()) as { id: string };
  await askAs(visitor, `/api/tasks/${id}/run`, { method: 'POST', headers });
  await page.goto('/console/inbox');
  const card = page.getByRole('article', { name: 'files.write_file, pending' });
  await card.getByText(path).first().waitFor();
  await page.keyboard.press('j');
  await page.locator('[data-chosen]').waitFor();
}

const written = (path: string) =>
  until(async () => {
    try {
      return readFileSync(join(system.filesDir, path), 'utf8');
    } catch {
      return null;
    }
  });

describe('the inbox', () => {
  it(
    'shows the exact call as text, and approves it by keyboard alone, once the kernel has said so',
    async () => {
      await waitingCall('first.md', hostile);
      await page.keyboard.press('e');
      await page.getByText('judged_hash').waitFor();
      expect(await page.getByRole('region', { name: 'Arguments' }).textContent()).toContain(shownHostile);
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('a');
      await page.getByRole('dialog').getByText('this exact call may be made').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('files.write_file: approved').waitFor();
      expect(await written('first.md')).toBe(hostile);
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'denies with a reason, which the run tells',
    async () => {
      await waitingCall('second.md');
      await page.keyboard.press('r');
      await typeInto(page.getByRole('dialog').getByLabel('Reason'), 'Not to this customer.');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.getByText('files.write_file: denied').waitFor();
      await page.keyboard.press('g');
      await page.keyboard.press('r');
      await page.getByRole('link', { name: 'second.md' }).press('Enter');
      await page.getByText('Not to this customer.').first().waitFor();
    },
    timeoutMs,
  );

  it(
    'votes on the call that has the focus, and shows it once more before',
    async () => {
      await waitingCall('older.md');
      await waitingCall('newer.md');
      await page.locator('[data-chosen]').getByText('newer.md').first().waitFor();
      const older = page.getByRole('article').filter({ hasText: 'older.md' });
      await new Keyboard(page).to(older.getByRole('button', { name: 'Deny' }));
      await page.keyboard.press('a');
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('region', { name: 'Arguments that you vote on' }).getByText('older.md').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
    },
    timeoutMs,
  );

  it(
    'casts no vote later that could not be sent, and says so',
    async () => {
      await waitingCall('offline.md');
      const card = page.getByRole('article').filter({ hasText: 'offline.md' });
      await visitor.context.setOffline(true);
      await page.keyboard.press('a');
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
      await page.getByRole('dialog').getByRole('heading', { name: 'The gateway does not answer' }).waitFor();
      await page.keyboard.press('Escape');
      const sent: string[] = [];
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
      await visitor.context.setOffline(false);
      await new Promise((later) => setTimeout(later, 3_000));
      expect(sent.filter((url) => url.includes('/resolve'))).toEqual([]);
      expect(await card.getByText('pending').isVisible()).toBe(true);
      expect(visitor.faults.splice(0)).toEqual([]);
    },
    timeoutMs,
  );

  it(
    'has a passkey sign the vote from the first one on, and decides nothing when it is not used',
    async () => {
      const cdp = await visitor.context.newCDPSession(page);
      const authenticatorId = await enrolPasskey(cdp);
      await waitingCall('third.md');
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      await page.keyboard.press('a');
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
      await page.getByRole('heading', { name: 'The passkey was not used' }).waitFor();
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
      await page.getByText('files.write_file: approved').waitFor();
      expect(await written('third.md')).toBe('Dear customer');
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );
});

describe('the receipts', () => {
  it(
    'are verified in the browser, by the verifier itself, and one that was changed on the way is not',
    async () => {
      await page.goto('/console/receipts');
      await page.getByRole('table').waitFor();
      await page.keyboard.press('v');
      const verify = page.getByRole('button', { name: 'Verify in the browser' });
      await verify.press('Enter');
      await page.getByText('Verified here').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      await visitor.context.route('**/api/v1/receipts/rcp_*', async (route) => {
        const answer = await route.fetch();
        const receipt = (await answer.json()) as { payload: { session_id: string } };
        receipt.payload.session_id = 'another';
        await route.fulfill({ response: answer, json: receipt });
      });
      await page.reload();
      await verify.press('Enter');
      await page.getByText('It does not verify').waitFor();
      // What the page reads once more may be under way when the browser is closed.
      await visitor.context.unrouteAll({ behavior: 'wait' });
      expect(visitor.faults).toEqual([]);
    },
    timeoutMs,
  );
});

type Cdp = Awaited<ReturnType<Visitor['context']['newCDPSession']>>;

/** As an operator sets it up; Chromium's own authenticator has the key from then on. Answers that authenticator's id. */
async function enrolPasskey(cdp: Cdp): Promise<string> {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privateKey = key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const authenticator = new Authenticator(kernelOrigin, {
    id: Buffer.from('a passkey of the founder').toString('base64url'),
    privateKey,
    counter: 0,
  });
  const { user_id: principal } = await asked<Session>('/api/session');
  const { workspaces } = await asked<Me>('/api/me');
  const headers = {
    authorization: `Bearer ${system.adminApiKey}`,
    'x-gov-tenant-id': workspaces[0]?.id ?? '',
    'x-gov-principal-id': principal,
  };
  const place = `${system.kernelUrl}/api/v1/identity/operators/${principal}/webauthn`;
  const send = async (step: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const json = body === undefined ? null : { 'content-type': 'application/json' };
    const response = await fetch(`${place}/${step}`, { method: 'POST', headers: { ...headers, ...json }, ...sent });
    expect(response.status).toBe(201);
    return (await response.json()) as { challenge: string };
  };
  const { challenge } = await send('register');
  await send('verify', { attestation: authenticator.create(challenge) });
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const options = {
    ...({ protocol: 'ctap2', transport: 'internal', automaticPresenceSimulation: true } as const),
    ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
  };
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', { options });
  const credentialId = Buffer.from(authenticator.id, 'base64url').toString('base64');
  const credential = { credentialId, isResidentCredential: false, rpId: 'localhost', privateKey, signCount: 1 };
  await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
  return authenticatorId;
}
