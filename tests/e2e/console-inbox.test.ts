import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Authenticator } from '@countersign/testkit/authenticator';
import { untilAnswered } from '@countersign/testkit/until';
import { addAuthenticator, askAs, axeFindings, typeInto, useConsole, type Visitor } from './_console.ts';
import { addressBook, signIn, type SignedIn } from './_system.ts';

const address = addressBook();

const kernelOrigin = 'http://localhost:8080';
const hostile = `<img src=x onerror="alert(1)">\u202e`;
const shownHostile = `<img src=x onerror=\\"alert(1)\\">⟨U+202E⟩`;
const desk = useConsole();
let people = 0;

type Founder = SignedIn & { email: string };

async function founder(): Promise<Founder> {
  const email = address(`founder-${++people}`);
  return { ...(await signIn(desk.system, email)), email };
}

/** Starts a run that waits for permission to write a file. */
async function waitingCall({ client }: SignedIn, path: string, content = 'Dear customer'): Promise<void> {
  const description = `call:files__write_file ${JSON.stringify({ path: join(desk.system.filesDir, path), content })}`;
  const waiting = async () => (await client.listWorkspaceApprovals()).body.data.length;
  const before = await waiting();
  const { id } = (await client.createTask({ body: { title: path, description } })).body;
  await client.runTask({ params: { id } });
  await untilAnswered(async () => (await waiting()) > before);
}

/** Opens the inbox of the person. It shows the newest call, which contains `path`. */
async function atInbox({ email }: Founder, path: string): Promise<Visitor> {
  const visitor = await desk.visitAs(email, '/console/inbox');
  await showsNewest(visitor, path);
  return visitor;
}

async function showsNewest({ page }: Visitor, path: string): Promise<void> {
  const card = page.getByRole('article', { name: 'files.write_file, pending' });
  await card.getByText(path).first().waitFor();
}

const written = (path: string) =>
  untilAnswered(async () => {
    try {
      return readFileSync(join(desk.system.filesDir, path), 'utf8');
    } catch {
      return null;
    }
  });

describe('the inbox', () => {
  it('shows the exact call as text, approves it by keyboard alone, and shows it as approved once the kernel confirms', async () => {
    const ada = await founder();
    await waitingCall(ada, 'first.md', hostile);
    const { page, faults } = await atInbox(ada, 'first.md');
    await page.keyboard.press('e');
    await page.getByText('judged_hash').waitFor();
    expect(await page.getByRole('region', { name: 'Arguments' }).textContent()).toContain(shownHostile);
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('a');
    await page.getByRole('dialog').getByText('Approves this exact call').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('files.write_file: Approved').waitFor();
    expect(await written('first.md')).toBe(hostile);
    await page.getByRole('link', { name: 'Decided' }).press('Enter');
    await page.getByRole('article', { name: /^files.write_file, (approved|consumed)$/ }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Needs attention', exact: true }).press('Enter');
    await page.getByRole('dialog').getByText('All clear. Nothing needs you.').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  it('denies with a reason, which the run shows', async () => {
    const ada = await founder();
    await waitingCall(ada, 'second.md');
    const { page } = await atInbox(ada, 'second.md');
    await page.keyboard.press('r');
    await typeInto(page.getByRole('dialog').getByLabel('Reason'), 'Not to this customer.');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('files.write_file: Denied').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('link', { name: 'second.md' }).press('Enter');
    await page.getByText('Not to this customer.').first().waitFor();
  });

  it('needs a passkey signature for each vote once a passkey exists, and records nothing without it', async () => {
    const ada = await founder();
    await waitingCall(ada, 'third.md');
    const visitor = await desk.visitAs(ada.email, '/console/inbox');
    const { page, faults } = visitor;
    const setVerified = await enrolPasskey(visitor);
    await page.reload();
    await showsNewest(visitor, 'third.md');
    await setVerified(false);
    await page.keyboard.press('a');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
    await page.getByRole('heading', { name: 'The passkey was not used' }).waitFor();
    await setVerified(true);
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).press('Enter');
    await page.getByText('files.write_file: Approved').waitFor();
    expect(await written('third.md')).toBe('Dear customer');
    expect(faults).toEqual([]);
  });
});

describe('the receipts', () => {
  it('are verified in the browser itself, and a receipt that was changed in transit fails', async () => {
    const ada = await founder();
    await waitingCall(ada, 'sealed.md');
    const { page, context, faults } = await desk.visitAs(ada.email, '/console/activity');
    await page.getByRole('table').waitFor();
    await page.keyboard.press('v');
    await page.getByText('Verified in this browser').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await context.route('**/api/v1/receipts/rcp_*', async (route) => {
      const answer = await route.fetch();
      const receipt = (await answer.json()) as { payload: { session_id: string } };
      receipt.payload.session_id = 'another';
      await route.fulfill({ response: answer, json: receipt });
    });
    await page.reload();
    await page.getByText('It does not verify').waitFor();
    // The page may be polling when the browser closes.
    await context.unrouteAll({ behavior: 'wait' });
    expect(faults).toEqual([]);
  });
});

/**
 * Enrols a passkey as an operator does, and adds it to the authenticator of the page. Returns the switch of user
 * verification.
 */
async function enrolPasskey(visitor: Visitor): Promise<(isUserVerified: boolean) => Promise<void>> {
  const { privateKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privateKey = key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
  const authenticator = new Authenticator(kernelOrigin, {
    id: Buffer.from('a passkey of the founder').toString('base64url'),
    privateKey,
    counter: 0,
  });
  const ask = async <Body>(path: string) => (await (await askAs(visitor, path)).json()) as Body; // the caller knows the type
  const { user_id: principal } = await ask<{ user_id: string }>('/api/session');
  const { workspaces } = await ask<{ workspaces: { id: string }[] }>('/api/me');
  const headers = {
    authorization: `Bearer ${desk.system.adminApiKey}`,
    'x-gov-tenant-id': workspaces[0]?.id ?? '',
    'x-gov-principal-id': principal,
  };
  const place = `${desk.system.kernelUrl}/api/v1/identity/operators/${principal}/webauthn`;
  const send = async (step: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const json = body === undefined ? null : { 'content-type': 'application/json' };
    const response = await fetch(`${place}/${step}`, { method: 'POST', headers: { ...headers, ...json }, ...sent });
    expect(response.status).toBe(201);
    return (await response.json()) as { challenge: string };
  };
  const { challenge } = await send('register');
  await send('verify', { attestation: authenticator.create(challenge) });
  const { cdp, authenticatorId, setVerified } = await addAuthenticator(visitor);
  const credentialId = Buffer.from(authenticator.id, 'base64url').toString('base64');
  const credential = { credentialId, isResidentCredential: false, rpId: 'localhost', privateKey, signCount: 1 };
  await cdp.send('WebAuthn.addCredential', { authenticatorId, credential });
  return setVerified;
}
