import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute, ApprovalId, PrincipalId, TenantId } from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { Browser, type Page } from '@countersign/testkit/browser';
import { approvalPage } from '../src/approver-pages/approval-page.ts';
import { moveApproval } from '../src/approvals/move-approval.ts';
import { asked, Caller, ledgerOf, movableClock, newSession, refusal, said } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, rawCall } from './_raw.ts';

const policy = `
format: countersign/policy.v1
name: pages
version: '1'
rules:
  - { id: payments, effect: escalate, match: { tool: [pay.*] }, reason: A person confirms payments. }
  - { id: transfers, effect: escalate, match: { tool: [transfer] }, approval: { quorum: 2, approvers: [alice, bob] } }
`;

const time = movableClock('2026-11-22T10:00:00.000Z');
let test: TestKernel;
let agent: Caller;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', policy);
  agent = new Caller(test);
});
afterAll(() => test.close());

const payment = () => ({ tool: 'pay.send', args: { amount: 5 }, session_id: newSession() });
const minuteMs = 60_000;

async function keyOf(principal: string, { tenant = 'acme', kind = 'approver' } = {}) {
  const body = { kind, principal_id: principal as PrincipalId } as NewAccessKey; // its defaults are the kernel's
  return (await test.as(tenant, 'operator').createAccessKey({ body })).body;
}

/** Opens the link and signs in, as a person does. */
async function signedIn(url: string, key: string): Promise<{ browser: Browser; page: Page }> {
  const browser = new Browser(test.kernel.url);
  const door = await browser.open(url);
  return { browser, page: await browser.submit(door.form('sign-in'), { key }) };
}

/** An escalated call and the link to its approval. */
async function question(call: object = payment()) {
  const reply = await agent.decide(call);
  const id = asked(reply);
  // The link names the configured address; in a test the port is free, so the path is taken at the kernel's own.
  return { id, url: new URL(reply.approval?.approve_url ?? '').pathname };
}

const decide = (page: Page) => page.form('apr_');
const stateOf = async (id: ApprovalId) => (await agent.approval(id)).state;

describe('the page of an approval', () => {
  verifies('kn.approve.page', 'a person opens approve_url, signs in, approves, and the agent goes on', async () => {
    const call = payment();
    const { id, url } = await question(call);
    const { key, key_id } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    for (const shown of ['pay.send', 'A person confirms payments.', 'E4', '15 min 0 s', '0 of 1 approval given', id])
      expect(page.text).toContain(shown);
    const after = await browser.submit(decide(page), { decision: 'approve', reason: 'known payee' });
    expect([after.status, after.text]).toEqual([200, expect.stringContaining('pay.send: approved')]);
    expect(said(await agent.decide(call))).toBe('ALLOW ALLOWED');
    const vote = (await ledgerOf(test, call.session_id)).find(({ payload }) => payload.action === 'approval.approve');
    expect(vote?.payload.principal_id).toBe('alice');
    expect(vote?.record?.intent.facts).toMatchObject({ credential: 'access_key', key_id, reason: 'known payee' });
  });

  verifies(
    'kn.approve.loop',
    'a person sees arguments and amount before deciding, and no arguments afterwards',
    async () => {
      const { url } = await question({ ...payment(), args: { payee: 'Ada Lovelace' }, demand: { spend_minor: 101 } });
      const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
      for (const shown of ['Ada Lovelace', 'spend minor', '101', 'tool_calls']) expect(page.text).toContain(shown);
      expect((await browser.submit(decide(page), { decision: 'approve' })).text).not.toContain('Ada Lovelace');
    },
  );

  verifies('kn.approve.page', 'the reason of a denial reaches the agent, by itself and with the grant', async () => {
    const call = payment();
    const { id, url } = await question(call);
    const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
    const after = await browser.submit(decide(page), { decision: 'deny', reason: 'Ask for an invoice first. 💶' });
    expect(after.text).toContain('denied');
    for (const repeat of [call, { ...call, approval_grant: id }]) {
      const reply = await agent.decide(repeat);
      expect([said(reply), reply.reason]).toEqual([
        'DENY APPROVAL_REJECTED',
        'The approval was refused or withdrawn: Ask for an invoice first. 💶',
      ]);
    }
    time.advance(15 * minuteMs);
    expect(said(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  verifies('kn.approve.page', 'a long reason is cut in the trace and told in full', async () => {
    const call = payment();
    const { url } = await question(call);
    const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
    const reason = `x${'💶'.repeat(999)}`;
    await browser.submit(decide(page), { decision: 'deny', reason });
    expect((await agent.decide(call)).reason).toContain(reason);
  });

  verifies('kn.approve.page', 'a stranger learns nothing, not even whether the approval exists', async () => {
    const { id, url } = await question();
    const browser = new Browser(test.kernel.url);
    const unknown = `/approvals/apr_${'0'.repeat(26)}`;
    const [there, nowhere] = [await browser.open(url), await browser.open(unknown)];
    expect(nowhere.markup).toBe(there.markup.replaceAll(id, unknown.slice('/approvals/'.length)));
    expect([there.status, nowhere.status]).toEqual([200, 200]);
    expect(there.text).not.toContain('pay.send');
    const vote = { decision: 'approve', ceremony_hash: `sha256:${'0'.repeat(64)}`, csrf_token: 'A'.repeat(43) };
    const [onThere, onNowhere] = [url, unknown].map((action) => browser.submit({ action, fields: vote }));
    expect([(await onThere)?.status, (await onNowhere)?.status]).toEqual([401, 401]);
    expect(await stateOf(id)).toBe('pending');
  });

  verifies('kn.approve.page', 'opens to the living key of an approver of the tenant alone', async () => {
    const { id, url } = await question();
    const revoked = await keyOf('alice');
    await test.as('acme').revokeAccessKey({ params: { key_id: revoked.key_id } });
    const agentKey = (await keyOf('alice', { kind: 'agent' })).key;
    for (const key of [agentKey, revoked.key, `${revoked.key}x`, '', 'apk_', test.env['GOV_ADMIN_API_KEY'] ?? '']) {
      const { browser, page } = await signedIn(url, key);
      expect([key, page.status, browser.cookie]).toEqual([key, 401, '']);
      expect(page.text).toContain('There is no such approver key here');
    }
    const foreign = await signedIn(url, (await keyOf('alice', { tenant: 'globex' })).key);
    expect([foreign.page.status, foreign.page.text]).toEqual([404, expect.not.stringContaining('pay.send')]);
    expect(await stateOf(id)).toBe('pending');
  });

  verifies('kn.approve.page', 'a key that is revoked ends its sessions with the next request', async () => {
    const { id, url } = await question();
    const { key, key_id } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    await test.as('acme').revokeAccessKey({ params: { key_id } });
    const after = await browser.submit(decide(page), { decision: 'approve' });
    expect([after.status, after.text]).toEqual([401, expect.stringContaining('not signed in any more')]);
    expect((await browser.open(url)).forms.map(({ action }) => action)).toEqual(['/approvals/sign-in']);
    expect(await stateOf(id)).toBe('pending');
  });

  verifies('kn.approve.page', 'a vote under a key that ends before the vote commits does not count', async () => {
    const { id } = await question();
    const { key_id } = await keyOf('alice');
    const { session_id: session, ceremony_hash: expectedCeremonyHash } = await agent.approval(id);
    const vote = {
      action: 'approve',
      by: 'alice' as PrincipalId,
      accessKey: key_id,
      credential: { kind: 'access_key', id: key_id },
      asserted: null,
      evidence: {},
    } as const;
    const place = { tenant: 'acme' as TenantId, id, session, approvedBy: [], expectedCeremonyHash };
    const cast = (changes: object) => refusal(moveApproval(test.kernel.context, { ...place, ...vote, ...changes }));
    expect(await cast({ by: 'bob' })).toBe('CREDENTIALS_INVALID');
    expect(await cast({ accessKey: (await keyOf('alice', { kind: 'agent' })).key_id })).toBe('CREDENTIALS_INVALID');
    expect(await cast({ accessKey: (await keyOf('alice', { tenant: 'globex' })).key_id })).toBe('CREDENTIALS_INVALID');
    await test.as('acme').revokeAccessKey({ params: { key_id } });
    expect(await cast({})).toBe('CREDENTIALS_INVALID');
    expect(await stateOf(id)).toBe('pending');
  });

  verifies('kn.approve.page', 'a session ends by itself, on sign-out, and with any change of its text', async () => {
    const { url } = await question({ ...payment(), session_id: newSession() });
    const { key } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    const isIn = async (cookie: string) => (await browser.open(url, { cookie })).text.includes('signed in as alice');
    const { cookie } = browser;
    expect(await isIn(cookie)).toBe(true);
    const [name = '', value = ''] = cookie.split('=');
    const [id = '', ends = '', nonce = '', mac = ''] = value.split('.');
    const later = `${name}=${[id, String(Number(ends) + minuteMs), nonce, mac].join('.')}`;
    const other = `${name}=${[(await keyOf('bob')).key_id, ends, nonce, mac].join('.')}`;
    for (const forged of [later, other, `${cookie}A`, `${cookie}; ${name}=x`]) expect(await isIn(forged)).toBe(false);
    const out = await browser.submit(page.form('sign-out'));
    expect([browser.cookie, out.text]).toEqual(['', expect.stringContaining('Sign in to decide')]);
    time.advance(15 * minuteMs);
    expect(await isIn(cookie)).toBe(false);
  });

  verifies('kn.approve.page', 'no form decides but the one that was shown in this session, by this site', async () => {
    const { id, url } = await question();
    const other = await question();
    const [mine, theirs] = [
      await signedIn(url, (await keyOf('alice')).key),
      await signedIn(url, (await keyOf('bob')).key),
    ];
    const shown = decide(mine.page);
    const approve = { decision: 'approve' };
    const made = { ...shown, fields: { ...shown.fields, csrf_token: 'A'.repeat(43) } };
    const elsewhere = { ...shown, action: other.url };
    const signOut = {
      ...shown,
      fields: { ...shown.fields, csrf_token: mine.page.form('sign-out').fields['csrf_token'] ?? '' },
    };
    const attempts = [
      await mine.browser.submit(made, approve),
      await theirs.browser.submit(shown, approve),
      await mine.browser.submit(elsewhere, approve),
      await mine.browser.submit(signOut, approve),
      await mine.browser.submit(shown, { ...approve, ceremony_hash: `sha256:${'0'.repeat(64)}` }),
      await mine.browser.submit(shown, approve, { 'sec-fetch-site': 'cross-site' }),
      await mine.browser.submit(mine.page.form('sign-out'), {}, { 'sec-fetch-site': 'cross-site' }),
      await mine.browser.submit(mine.page.form('sign-out'), { csrf_token: 'A'.repeat(43) }),
      await new Browser(test.kernel.url).submit(
        (await new Browser(test.kernel.url).open(url)).form('sign-in'),
        { key: 'x' },
        { 'sec-fetch-site': 'cross-site' },
      ),
    ];
    expect(attempts.map(({ status }) => status)).toEqual(attempts.map(() => 403));
    expect([await stateOf(id), await stateOf(other.id)]).toEqual(['pending', 'pending']);
  });

  verifies(
    'kn.approve.page',
    'what was shown is decided: another state is told and shown, and a form counts once',
    async () => {
      const { id, url } = await question({ ...payment(), tool: 'transfer' });
      const [alice, bob] = [
        await signedIn(url, (await keyOf('alice')).key),
        await signedIn(url, (await keyOf('bob')).key),
      ];
      const stale = decide(bob.page);
      expect((await alice.browser.submit(decide(alice.page), { decision: 'approve' })).text).toContain(
        '1 of 2 approvals',
      );
      const told = await bob.browser.submit(stale, { decision: 'approve' });
      expect([told.status, told.text]).toEqual([412, expect.stringContaining('It changed after this page was shown')]);
      expect((await agent.approval(id)).approved_by).toEqual(['alice']);
      const twice = await Promise.all([1, 2].map(() => bob.browser.submit(decide(told), { decision: 'approve' })));
      expect(twice.map(({ status }) => status).sort()).toEqual([200, 412]);
      expect(await agent.approval(id)).toMatchObject({ state: 'approved', approved_by: ['alice', 'bob'] });
    },
  );

  verifies(
    'kn.approve.page',
    'four eyes: neither who asked nor who is not named nor the same person twice',
    async () => {
      const own = await question();
      const asker = await signedIn(own.url, (await keyOf('agent')).key);
      expect(asker.page.text).toContain('The requester of an approval cannot decide it');
      expect(asker.page.forms.map(({ action }) => action)).toEqual(['/approvals/sign-out']);
      const named = await question({ ...payment(), tool: 'transfer' });
      expect((await signedIn(named.url, (await keyOf('mallory')).key)).page.text).toContain(
        'the caller is not among them',
      );
      const first = await signedIn(named.url, (await keyOf('alice')).key);
      await first.browser.submit(decide(first.page), { decision: 'approve' });
      const again = await signedIn(named.url, (await keyOf('alice')).key);
      expect(again.page.text).toContain('already approved');
      expect((await agent.approval(named.id)).approved_by).toEqual(['alice']);
    },
  );

  verifies(
    'kn.approve.page',
    'an approval that expired in the meantime is reported and shown, and stays refused',
    async () => {
      const { id, url } = await question();
      const { key } = await keyOf('alice');
      time.advance(10 * minuteMs);
      const { browser, page } = await signedIn(url, key);
      expect(page.text).toContain('5 min 0 s');
      expect(page.markup).toContain('<meta http-equiv="refresh" content="301" />');
      time.advance(5 * minuteMs);
      const late = await browser.submit(decide(page), { decision: 'approve' });
      expect([late.status, late.text]).toEqual([409, expect.stringContaining('expired')]);
      expect(await stateOf(id)).toBe('expired');
      expect((await browser.open(url)).forms.map(({ action }) => action)).toEqual(['/approvals/sign-out']);
    },
  );
});

describe('what an attacker writes', () => {
  const payload = `"><script>alert(1)</script><img src=x onerror='alert(1)'>\u202e\u200b\u0001&amp;`;
  const seen = `"><script>alert(1)</script><img src=x onerror='alert(1)'>⟨U+202E⟩⟨U+200B⟩⟨U+0001⟩&amp;`;

  verifies('kn.approve.page', 'is text on the page, with nothing hidden in it', async () => {
    const body = { action: 'tool.call', tool: 'pay.send', session_id: newSession(), reason: payload } as never;
    const made = (await agent.client.createApproval({ body })).body;
    const { browser, page } = await signedIn(`/approvals/${made.approval_id}`, (await keyOf('alice')).key);
    expect(page.text).toContain(seen);
    expect(page.markup).not.toMatch(/<script|<img|\u202e|\u200b/);
    expect((await browser.submit(decide(page), { decision: 'deny', reason: '\0' })).status).toBe(400);
    const after = await browser.submit(decide(page), { decision: 'deny', reason: payload });
    expect(after.text).toContain(seen);
    expect(after.markup).not.toMatch(/<script|<img|\u202e|\u200b/);
  });

  it('is text inside of arguments too, where only our own line ends end a line', () => {
    const approval = { tool: payload, arguments: { note: `${payload}\u2028`, lines: 'a\nb' }, state: 'denied' };
    const tokens = { decide: '', signOut: '', enrol: '' };
    const passkeys = { areRequired: false, state: null, areAvailable: false, mayBreakGlass: false };
    const view = {
      ...approval,
      action: 'tool.call',
      expires_at: '',
      approved_by: [],
      quorum: 1,
      break_glass: null,
    } as never;
    const obstacles = { approve: null, deny: null, revoke: null, break_glass: null };
    const shown = approvalPage({ approval: view, viewer: 'a' as PrincipalId, nowMs: 0, obstacles, tokens, passkeys });
    const markup = JSON.stringify(
      Object.getOwnPropertySymbols(shown).map((name) => Reflect.get(shown, name) as unknown),
    );
    expect(markup).not.toMatch(/<script|<img|\u202e|\u200b|\u2028/);
    expect(markup).toContain('&quot;lines&quot;: &quot;a\\\\nb&quot;<br />}<br /></pre>');
  });

  it('cannot leave the page either: nothing loads, runs, frames or is sent elsewhere', async () => {
    const { url } = await question();
    const { headers } = await new Browser(test.kernel.url).open(url);
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; form-action 'self'; frame-ancestors 'none'; base-uri 'none'$/,
    );
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'content-type': 'text/html; charset=utf-8',
    });
  });
});

describe('forms', () => {
  const codeOf = (text: string) => /([A-Z_]+), request/.exec(text)?.[1];
  const sent = async (route: AnyRoute, body: string, type = 'application/x-www-form-urlencoded') => {
    const { status, text } = await rawCall(test.kernel.url, { route, body, headers: { 'content-type': type } });
    return [status, codeOf(text)];
  };
  const pages = allRoutes.filter(({ media }) => media === 'html');

  it.each(pages.filter(({ method }) => method === 'POST'))('to $path are strict', async (route) => {
    expect(await sent(route, 'a=1&a=2')).toEqual([400, 'DUPLICATE_MEMBER']);
    expect(await sent(route, 'no_such_member=1')).toEqual([400, 'UNKNOWN_MEMBER']);
    expect(await sent(route, '__proto__=1')).toEqual([400, 'UNKNOWN_MEMBER']);
    expect(await sent(route, 'a=%ff')).toEqual([400, 'INVALID_REQUEST']);
    expect(await sent(route, 'a=é')).toEqual([400, 'INVALID_REQUEST']);
    expect(await sent(route, '{}', 'application/json')).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await sent(route, `a=${'x'.repeat(40_000)}`)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it.each(pages)('and addresses with an unknown member are refused with a page: $operation', async (route) => {
    const { status, text, headers } = await rawCall(test.kernel.url, { route, query: { no_such: '<b>' } });
    expect([status, codeOf(text)]).toEqual([400, 'UNKNOWN_MEMBER']);
    expect([headers.get('content-type'), text.includes('<b>')]).toEqual(['text/html; charset=utf-8', false]);
  });
});

describe('a kernel that people reach', () => {
  it('sends its cookie over TLS alone, and slows down guesses of keys', async () => {
    const env = { GOV_PUBLIC_URL: 'https://kernel.example', GOV_RATE_LIMITS: '1' };
    const reached = await startTestKernel({ env, overrides: { clock: time.clock } });
    try {
      const body = { kind: 'approver', principal_id: 'alice', expires_in_days: 1 } as never;
      const { key } = (await reached.as('acme').createAccessKey({ body })).body;
      const signIn = (secret: string) =>
        fetch(`${reached.kernel.url}/approvals/sign-in`, {
          method: 'POST',
          body: new URLSearchParams({ key: secret, approval_id: `apr_${'0'.repeat(26)}` }),
          redirect: 'manual',
        });
      const { status, headers } = await signIn(key);
      expect([status, headers.getSetCookie()]).toEqual([
        303,
        [
          expect.stringMatching(
            /^countersign_approver=\S+; Path=\/approvals; HttpOnly; SameSite=Strict; Max-Age=900; Secure$/,
          ),
        ],
      ]);
      const guesses = await Promise.all(Array.from({ length: 40 }, () => signIn('apk_guess')));
      const statuses = guesses.map((guess) => guess.status).sort();
      // A slow machine answers some more: a guess comes back every three seconds.
      expect([statuses.slice(0, 19), statuses.at(-1)]).toEqual([Array<number>(19).fill(401), 429]);
    } finally {
      await reached.close();
    }
  });
});
