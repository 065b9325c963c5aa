import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute, ApprovalId, PrincipalId, TenantId } from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { Browser, type Page } from '@countersign/testkit/browser';
import { approvalPage } from '../src/doors/approver-pages/approval-page.ts';
import { moveApproval } from '../src/controls/approvals/move-approval.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
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
  const body = { kind, principal_id: principal as PrincipalId } as NewAccessKey; // the kernel fills in the defaults
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
  const id = send(reply);
  // The link contains the configured address. The kernel of a test has a different port, so only the path is used.
  return { id, url: new URL(reply.approval?.approve_url ?? '').pathname };
}

const decide = (page: Page) => page.form('apr_');
const stateOf = async (id: ApprovalId) => (await agent.approval(id)).state;

describe('the page of an approval', () => {
  verifies('kn.approve.page', 'lets a person sign in at approve_url and approve, and the agent continues', async () => {
    const call = payment();
    const { id, url } = await question(call);
    const { key, key_id } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    for (const shown of ['pay.send', 'A person confirms payments.', 'E4', '15 min 0 s', '0 of 1 approval given', id])
      expect(page.text).toContain(shown);
    const after = await browser.submit(decide(page), { decision: 'approve', reason: 'known payee' });
    expect([after.status, after.text]).toEqual([200, expect.stringContaining('pay.send: approved')]);
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
    const vote = (await ledgerOf(test, call.session_id)).find(({ payload }) => payload.action === 'approval.approve');
    expect(vote?.payload.principal_id).toBe('alice');
    expect(vote?.record?.intent.facts).toMatchObject({ credential: 'access_key', key_id, reason: 'known payee' });
  });

  verifies('kn.approve.loop', 'shows arguments and amount before the decision, and no arguments later', async () => {
    const { url } = await question({ ...payment(), args: { payee: 'Ada Lovelace' }, demand: { spend_minor: 101 } });
    const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
    for (const shown of ['Ada Lovelace', 'spend minor', '101', 'tool_calls']) expect(page.text).toContain(shown);
    expect((await browser.submit(decide(page), { decision: 'approve' })).text).not.toContain('Ada Lovelace');
  });

  verifies('kn.approve.page', 'passes the reason of a denial to the agent, with and without the grant', async () => {
    const call = payment();
    const { id, url } = await question(call);
    const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
    const after = await browser.submit(decide(page), { decision: 'deny', reason: 'Ask for an invoice first. 💶' });
    expect(after.text).toContain('denied');
    for (const repeat of [call, { ...call, approval_grant: id }]) {
      const reply = await agent.decide(repeat);
      expect([answerOf(reply), reply.reason]).toEqual([
        'DENY APPROVAL_REJECTED',
        'The approval was refused or withdrawn: Ask for an invoice first. 💶',
      ]);
    }
    time.advance(15 * minuteMs);
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  verifies('kn.approve.page', 'passes a long reason to the agent in full', async () => {
    const call = payment();
    const { url } = await question(call);
    const { browser, page } = await signedIn(url, (await keyOf('alice')).key);
    const reason = `x${'💶'.repeat(999)}`;
    await browser.submit(decide(page), { decision: 'deny', reason });
    expect((await agent.decide(call)).reason).toContain(reason);
  });

  verifies('kn.approve.page', 'looks the same to strangers whether or not the approval exists', async () => {
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

  verifies('kn.approve.page', 'opens only with a live approver key of the tenant', async () => {
    const { id, url } = await question();
    const revoked = await keyOf('alice');
    await test.as('acme').revokeAccessKey({ params: { key_id: revoked.key_id } });
    const agentKey = (await keyOf('alice', { kind: 'agent' })).key;
    for (const key of [agentKey, revoked.key, `${revoked.key}x`, '', 'apk_', test.env['GOV_ADMIN_API_KEY'] ?? '']) {
      const { browser, page } = await signedIn(url, key);
      expect([key, page.status, browser.cookie]).toEqual([key, 401, '']);
      expect(page.text).toContain('This approver key is unknown or has expired');
    }
    const foreign = await signedIn(url, (await keyOf('alice', { tenant: 'globex' })).key);
    expect([foreign.page.status, foreign.page.text]).toEqual([404, expect.not.stringContaining('pay.send')]);
    expect(await stateOf(id)).toBe('pending');
  });

  verifies('kn.approve.page', 'ends the session of a revoked key at the next request', async () => {
    const { id, url } = await question();
    const { key, key_id } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    await test.as('acme').revokeAccessKey({ params: { key_id } });
    const after = await browser.submit(decide(page), { decision: 'approve' });
    expect([after.status, after.text]).toEqual([401, expect.stringContaining('session has ended')]);
    expect((await browser.open(url)).forms.map(({ action }) => action)).toEqual(['/approvals/sign-in']);
    expect(await stateOf(id)).toBe('pending');
  });

  verifies(
    'kn.approve.page',
    'counts no vote with a key of another person, kind or tenant, or with a key that was revoked before the commit',
    async () => {
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
      expect(await cast({ accessKey: (await keyOf('alice', { tenant: 'globex' })).key_id })).toBe(
        'CREDENTIALS_INVALID',
      );
      await test.as('acme').revokeAccessKey({ params: { key_id } });
      expect(await cast({})).toBe('CREDENTIALS_INVALID');
      expect(await stateOf(id)).toBe('pending');
    },
  );

  verifies('kn.approve.page', 'ends a session at its expiry, on sign-out, and for a changed cookie', async () => {
    const { url } = await question({ ...payment(), session_id: newSession() });
    const { key } = await keyOf('alice');
    const { browser, page } = await signedIn(url, key);
    const isIn = async (cookie: string) => (await browser.open(url, { cookie })).text.includes('signed in as alice');
    const { cookie } = browser;
    expect(await isIn(cookie)).toBe(true);
    const [name = '', value = ''] = cookie.split('=');
    const [id = '', ends = '', nonce = '', mac = ''] = value.split('.');
    const later = `${name}=${[id, String(Number(ends) + minuteMs), nonce, mac].join('.')}`;
    const second = `${name}=${[(await keyOf('bob')).key_id, ends, nonce, mac].join('.')}`;
    for (const forged of [later, second, `${cookie}A`, `${cookie}; ${name}=x`]) expect(await isIn(forged)).toBe(false);
    const out = await browser.submit(page.form('sign-out'));
    expect([browser.cookie, out.text]).toEqual(['', expect.stringContaining('Sign in to decide')]);
    time.advance(15 * minuteMs);
    expect(await isIn(cookie)).toBe(false);
  });

  verifies('kn.approve.page', 'accepts a vote only from a form that it showed in the same session', async () => {
    const { id, url } = await question();
    const second = await question();
    const [mine, theirs] = [
      await signedIn(url, (await keyOf('alice')).key),
      await signedIn(url, (await keyOf('bob')).key),
    ];
    const shown = decide(mine.page);
    const approve = { decision: 'approve' };
    const made = { ...shown, fields: { ...shown.fields, csrf_token: 'A'.repeat(43) } };
    const elsewhere = { ...shown, action: second.url };
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
    expect([await stateOf(id), await stateOf(second.id)]).toEqual(['pending', 'pending']);
  });

  verifies('kn.approve.page', 'refuses an outdated vote, shows the new state, and counts a form once', async () => {
    const { id, url } = await question({ ...payment(), tool: 'transfer' });
    const [alice, bob] = [
      await signedIn(url, (await keyOf('alice')).key),
      await signedIn(url, (await keyOf('bob')).key),
    ];
    const stale = decide(bob.page);
    expect((await alice.browser.submit(decide(alice.page), { decision: 'approve' })).text).toContain(
      '1 of 2 approvals',
    );
    const answer = await bob.browser.submit(stale, { decision: 'approve' });
    expect([answer.status, answer.text]).toEqual([
      412,
      expect.stringContaining('The approval changed after this page was shown'),
    ]);
    expect((await agent.approval(id)).approved_by).toEqual(['alice']);
    const twice = await Promise.all([1, 2].map(() => bob.browser.submit(decide(answer), { decision: 'approve' })));
    expect(twice.map(({ status }) => status).sort()).toEqual([200, 412]);
    expect(await agent.approval(id)).toMatchObject({ state: 'approved', approved_by: ['alice', 'bob'] });
  });

  verifies(
    'kn.approve.page',
    'refuses the requester, people whom the rule does not name, and a second vote of one person',
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

  verifies('kn.approve.page', 'refuses a vote on an expired approval, and then shows no form', async () => {
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
  });
});

describe('attacker-controlled text', () => {
  const payload = `"><script>alert(1)</script><img src=x onerror='alert(1)'>\u202e\u200b\u0001&amp;`;
  const seen = `"><script>alert(1)</script><img src=x onerror='alert(1)'>⟨U+202E⟩⟨U+200B⟩⟨U+0001⟩&amp;`;

  verifies(
    'kn.approve.page',
    'is shown as text on the page, and its invisible characters are made visible',
    async () => {
      const body = { action: 'tool.call', tool: 'pay.send', session_id: newSession(), reason: payload } as never;
      const made = (await agent.client.createApproval({ body })).body;
      const { browser, page } = await signedIn(`/approvals/${made.approval_id}`, (await keyOf('alice')).key);
      expect(page.text).toContain(seen);
      expect(page.markup).not.toMatch(/<script|<img|\u202e|\u200b/);
      expect((await browser.submit(decide(page), { decision: 'deny', reason: '\0' })).status).toBe(400);
      const after = await browser.submit(decide(page), { decision: 'deny', reason: payload });
      expect(after.text).toContain(seen);
      expect(after.markup).not.toMatch(/<script|<img|\u202e|\u200b/);
    },
  );

  it('is shown as text in arguments too, where only our own line breaks end a line', () => {
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

  it('cannot load, run or send anything elsewhere, and the page cannot be framed', async () => {
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

  it.each(pages.filter(({ method }) => method === 'POST'))('to $path are parsed strictly', async (route) => {
    expect(await sent(route, 'a=1&a=2')).toEqual([400, 'DUPLICATE_MEMBER']);
    expect(await sent(route, 'no_such_member=1')).toEqual([400, 'UNKNOWN_MEMBER']);
    expect(await sent(route, '__proto__=1')).toEqual([400, 'UNKNOWN_MEMBER']);
    expect(await sent(route, 'a=%ff')).toEqual([400, 'INVALID_REQUEST']);
    expect(await sent(route, 'a=é')).toEqual([400, 'INVALID_REQUEST']);
    expect(await sent(route, '{}', 'application/json')).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    expect(await sent(route, `a=${'x'.repeat(40_000)}`)).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it.each(pages)('and URLs with an unknown member are refused with an HTML page: $operation', async (route) => {
    const { status, text, headers } = await rawCall(test.kernel.url, { route, query: { no_such: '<b>' } });
    expect([status, codeOf(text)]).toEqual([400, 'UNKNOWN_MEMBER']);
    expect([headers.get('content-type'), text.includes('<b>')]).toEqual(['text/html; charset=utf-8', false]);
  });
});

describe('a kernel with a public URL', () => {
  it('sends its cookie over TLS only, and limits guesses of keys', async () => {
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
      // On a slow machine, further guesses are answered: the limit permits another one every three seconds.
      expect([statuses.slice(0, 19), statuses.at(-1)]).toEqual([Array<number>(19).fill(401), 429]);
    } finally {
      await reached.close();
    }
  });
});
