import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Browser } from '@countersign/testkit/browser';
import { verifies } from '@countersign/testkit/verifies';
import { movableClock, refusal } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';

const url = '/approvals/passkeys';
const time = movableClock('2026-11-22T10:00:00.000Z');
let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin }, overrides: { clock: time.clock } });
});
afterEach(() => test.close());

/** Signs a person in to the page with a new approver key. */
async function atPage(principal: string, tenant = 'acme') {
  const body = { kind: 'approver', principal_id: principal } as never; // the kernel adds defaults
  const { key } = (await test.as(tenant, 'operator').createAccessKey({ body })).body;
  const browser = new Browser(test.kernel.url);
  const page = await browser.submit((await browser.open(url)).form('sign-in'), { key });
  return { browser, page };
}

type Place = Awaited<ReturnType<typeof atPage>>;

/** The fields of the form to vouch for a person. */
function formFor({ page: { markup } }: Place, owner: Approver): Record<string, string> {
  const form = [...markup.matchAll(/data-ceremony="vouch"(.*?)<\/form>/gs)].find(([text]) => text.includes(owner.id));
  const fields = [...(form?.[1] ?? '').matchAll(/name="(\w+)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

async function send({ browser }: Place, step: string, body: object, headers: Record<string, string> = {}) {
  const response = await fetch(`${test.kernel.url}${url}/${step}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', cookie: browser.cookie, ...headers },
    body: JSON.stringify(body),
  });
  const statement = (await response.json()) as { error?: { code: string }; options: { challenge: string } };
  return { code: statement.error?.code ?? 'OK', said: statement };
}

async function enrolled(name: string, tenant = 'acme'): Promise<Approver> {
  const person = new Approver(test, name, tenant);
  await person.enrol();
  return person;
}

describe('the page for vouching', () => {
  verifies('kn.approve.webauthn', 'activates a passkey with the passkey of the signed-in person', async () => {
    const [alice, bob] = [await enrolled('alice'), await enrolled('bob')];
    const place = await atPage('alice');
    for (const shown of ['bob', bob.id, 'enrolled', 'Vouch for bob with your passkey'])
      expect(place.page.text).toContain(shown);
    expect(place.page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[^']+'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'; script-src 'self'; connect-src 'self'$/,
    );
    const fields = formFor(place, bob);
    const { said } = await send(place, 'challenge', fields);
    const assertion = alice.authenticator.get(said.options.challenge);
    expect((await send(place, 'assert', { ...fields, assertion })).code).toBe('OK');
    expect((await send(place, 'assert', { ...fields, assertion })).code).toBe('PASSKEY_REFUSED');
    expect((await place.browser.open(url)).text).toContain('No passkeys are waiting.');
    expect((await bob.client.listPasskeys({ params: { principal: bob.principal } })).body.data).toMatchObject([
      { state: 'active', vouched_by: 'alice' },
    ]);
  });

  it('shows nothing without a sign-in, nothing of other tenants, and no expired passkeys', async () => {
    await enrolled('alice');
    await enrolled('first', 'globex');
    const waiting = await enrolled('gus', 'globex');
    const stranger = await new Browser(test.kernel.url).open(url);
    expect(stranger.forms.map(({ action }) => action)).toEqual(['/approvals/sign-in']);
    expect((await atPage('alice')).page.text).not.toContain(waiting.id);
    expect((await atPage('first', 'globex')).page.text).toContain(waiting.id);
    time.advance(86_400_000);
    expect((await atPage('first', 'globex')).page.text).not.toContain(waiting.id);
  });

  it('accepts only the form that was shown in this session, by this site, for this passkey', async () => {
    const [alice, bob] = [await enrolled('alice'), await enrolled('bob')];
    await alice.vouchFor(bob);
    const [carl, dora] = [await enrolled('carl'), await enrolled('dora')];
    const [mine, theirs] = [await atPage('alice'), await atPage('bob')];
    const [ofCarl, ofDora] = [formFor(mine, carl), formFor(mine, dora)];
    const swapped = { ...ofCarl, csrf_token: ofDora['csrf_token'] };
    const foreign = { ...ofCarl, csrf_token: formFor(theirs, carl)['csrf_token'] };
    for (const step of ['challenge', 'assert']) {
      const answer = step === 'assert' ? { assertion: carl.authenticator.get('AAAA') } : {};
      for (const fields of [swapped, foreign])
        expect((await send(mine, step, { ...fields, ...answer })).code).toBe('PERMISSION_DENIED');
      const elsewhere = { 'sec-fetch-site': 'cross-site' };
      expect((await send(mine, step, { ...ofCarl, ...answer }, elsewhere)).code).toBe('PERMISSION_DENIED');
      const signedOut = { ...mine, browser: new Browser(test.kernel.url) };
      expect((await send(signedOut, step, { ...ofCarl, ...answer })).code).toBe('CREDENTIALS_INVALID');
    }
  });

  it('offers no form to a person without an active passkey, and states the reason', async () => {
    await enrolled('alice');
    const eve = await enrolled('eve');
    const place = await atPage('eve');
    expect(place.page.text).toContain('You need an active passkey to vouch, and you have none.');
    expect(place.page.markup).not.toContain('data-ceremony');
    expect(await refusal(eve.vouchFor(eve))).toBe('PASSKEY_REQUIRED');
  });
});
