import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  addAuthenticator,
  askAs,
  axeFindings,
  pressOnceFocused,
  signInByKeyboard,
  useConsole,
  type Screen,
  type Visitor,
} from './_console.ts';
import { addressBook, inDatabase, kernelClient, type SignedIn, signIn } from './_system.ts';

const address = addressBook();

const desk = useConsole();

/** A signed-in person at a page, with a device that stores passkeys. */
async function atWithDevice(email: string, path: string, screen?: Screen) {
  const visitor = await desk.visitAs(email, path, screen);
  return { ...visitor, ...(await addAuthenticator(visitor)) };
}

/** Makes the visitor's proof of presence ten minutes older. */
async function tenMinutesPass(visitor: Visitor): Promise<void> {
  const { session_id } = (await (await askAs(visitor, '/api/session')).json()) as { session_id: string };
  const statement = `UPDATE sessions SET proven_at = proven_at - interval '10 minutes' WHERE id = $1`;
  await inDatabase(desk.system.dataDir, { schema: 'control_plane', statement, values: [session_id] });
}

async function enrol({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Enrol a passkey' }).press('Enter');
  await page.getByText('The passkey is enrolled').waitFor();
}

async function signOut({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
}

describe('a passkey at the console', () => {
  it('is enrolled, signs in and is ended by keyboard alone, and cannot sign in afterwards', async () => {
    const visitor = await desk.visit();
    const { page, faults } = visitor;
    await addAuthenticator(visitor);
    await page.goto('/console/you');
    await signInByKeyboard(page, address('ada'));
    await enrol(visitor);
    expect(await axeFindings(page)).toEqual([]);
    await signOut(visitor);
    await page.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('y');
    await page.getByText(address('ada')).waitFor();
    await page.getByRole('region', { name: 'Your passkeys' }).getByRole('button', { name: 'End' }).press('Enter');
    await page.getByText('It is your only passkey').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('No passkeys yet').waitFor();
    await signOut(visitor);
    await page.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await page.getByText('PASSKEY_REFUSED').waitFor();
    expect(page.url()).toContain('/console/sign-in');
    expect(faults).toEqual([]);
  });

  it('proves presence again, and nothing happens if it is not used', async () => {
    const visitor = await atWithDevice(address('bob'), '/console/you');
    const { page, faults, setVerified } = visitor;
    await enrol(visitor);
    await tenMinutesPass(visitor);
    await page.getByRole('region', { name: 'Your passkeys' }).getByRole('button', { name: 'End' }).press('Enter');
    await pressOnceFocused(page.getByRole('button', { name: 'End passkey' }));
    await page.getByRole('button', { name: 'Use passkey' }).waitFor();
    await setVerified(false);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The passkey was not used' }).waitFor();
    expect(await page.getByRole('region', { name: 'Your passkeys' }).count()).toBe(1);
    await setVerified(true);
    await page.getByRole('button', { name: 'Use passkey' }).press('Enter');
    await page.getByText('No passkeys yet').waitFor();
    expect(faults).toEqual([]);
  });
});

/** Another owner, who may vote. She is at the inbox of her workspace on a phone with a passkey. */
async function approverOnPhone({ client, workspaceId: id }: SignedIn) {
  const email = address('carol');
  const body = { email, role: 'partner' } as never; // branded by the schema
  const { inviteToken: token } = (await client.createInvite({ params: { id }, body })).body;
  const carol = (await signIn(desk.system, email)).client;
  await carol.acceptInvite({ params: { token }, body: { email } });
  const { id: userId } = (await carol.getMe()).body.user;
  await client.putMemberRole({ params: { id, userId }, body: { role: 'owner' } });
  const phone = await atWithDevice(email, `/console/you?workspace=${id}`, { width: phoneWidth });
  const { page } = phone;
  await enrol(phone);
  await page.goto(`/console/inbox?workspace=${id}`);
  await page.getByRole('heading', { name: 'Nothing is waiting' }).waitFor();
  return phone;
}

const phoneWidth = 390;
const fileName = 'letter-of-the-phone.md';

describe('an approver on a phone', () => {
  verifies(
    'ui.approve',
    'sees the exact arguments, the rule and the blast radius, approves with a passkey, and the agent does exactly that',
    async () => {
      const ada = await signIn(desk.system, address('ada-of-agents'));
      const { page, faults } = await approverOnPhone(ada);
      const { key, id: keyId } = (await ada.client.createApiKey({ body: { name: 'crawler' } as never })).body; // unbranded names
      const requestInit = { headers: { authorization: `Bearer ${key}`, 'x-gov-session-id': 'crawl-1' } };
      const agent = new Client({ name: 'agent', version: '1' });
      await agent.connect(new StreamableHTTPClientTransport(new URL(`${desk.system.gatewayUrl}/mcp`), { requestInit }));
      const args = { path: join(desk.system.filesDir, fileName), content: 'Dear <b>customer</b>, 12.50 EUR' };
      const call = (changed: object = {}) =>
        agent.callTool({ name: 'files.write_file', arguments: { ...args, ...changed } });
      expect((await call()).isError).toBe(true);

      await page.getByRole('link', { name: 'files.write_file' }).click();
      const card = page.getByRole('article', { name: 'files.write_file, pending' });
      const shown = JSON.parse((await card.getByRole('region', { name: 'Arguments' }).textContent()) ?? '') as object;
      expect(shown).toEqual(args);
      const [record] = (
        await kernelClient(desk.system, ada.workspaceId).listRecords({ query: { verdict: 'ESCALATE' } })
      ).body.data;
      expect(record?.matched_rules).toHaveLength(1);
      await card.getByText(`${record?.matched_rules[0]}, gate`).waitFor();
      await card.getByText(`key:${keyId}`).first().waitFor();
      await card.getByText(/\d+:\d\d left/).waitFor();
      const radius = card.getByRole('region', { name: 'What this agent used in 7 days' });
      await radius.getByLabel('Sessions: 1').click();
      await radius.getByText('crawl-1').waitFor();
      expect(await axeFindings(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(phoneWidth);

      await card.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
      await page.getByText('files.write_file: Approved').waitFor();
      expect((await call({ content: 'something else' })).isError).toBe(true);
      expect(existsSync(args.path)).toBe(false);
      expect((await call()).isError).not.toBe(true);
      expect({ ...shown, content: readFileSync(args.path, 'utf8') }).toEqual(shown);
      expect(faults).toEqual([]);
      await agent.close();
    },
  );
});
