import { beforeEach, describe, expect, it } from '@jest/globals';
import { useConsole, type Screen } from './_console.ts';
import { SignInSystem } from './_sign-in-system.ts';

const desk = useConsole(() => SignInSystem.start());

beforeEach(() => {
  desk.system.aheadMs = 0;
});

async function post(path: string, form: Record<string, string>): Promise<Record<string, string>> {
  const response = await fetch(new URL(path, desk.system.gateway.url), {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return (await response.json()) as Record<string, string>; // the members of RFC 8628
}

const client_id = 'reporter on laptop-7';
const begin = (more: Record<string, string> = {}) => post('/api/auth/device/code', { client_id, ...more });
const poll = (device_code = '') =>
  post('/api/auth/device/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code,
    client_id,
  });

const visitor = (path: string, screen?: Screen) => desk.visitAs(desk.system.newAddress(), path, screen);

/** The path of the address that the program shows to the person. */
const shownPath = ({ verification_uri_complete = '' }: Record<string, string>) => {
  const { pathname, search } = new URL(verification_uri_complete);
  return pathname + search;
};

describe('the page that admits a program', () => {
  it("opens at the program's address, shows who requests what, and grants what was chosen", async () => {
    const begun = await begin({ scope: 'partner' });
    const { page, faults } = await visitor(shownPath(begun), { width: 390 });
    await page.getByText(begun['user_code'] ?? 'no code').waitFor();
    expect(await page.getByText(client_id).isVisible()).toBe(true);
    expect(await page.getByText('127.0.0.1').isVisible()).toBe(true);
    expect(await poll(begun['device_code'])).toMatchObject({ error: 'authorization_pending' });
    await page.getByLabel('It may act as').press('ArrowUp');
    await page.getByRole('button', { name: 'Give access' }).press('Enter');
    await page.getByText(/reporter on laptop-7 may act in .* as member\./).waitFor();
    desk.system.aheadMs += 10_000;
    expect(await poll(begun['device_code'])).toMatchObject({ token_type: 'Bearer', scope: 'member' });
    await page.getByRole('link', { name: 'Your account', exact: true }).press('Enter');
    await page.getByRole('region', { name: 'Programs with access' }).getByText(client_id).waitFor();
    expect(faults).toEqual([]);
  });
});
