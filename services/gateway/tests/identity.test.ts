import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { SMTPServer } from 'smtp-server';
import { issueLocalSignIn, type StartedGateway } from '../src/index.ts';
import { newSessionToken, sessionTokenHash } from '../src/identity/session-token.ts';
import { findSession, insertSession, markRotated } from '../src/store/sessions.ts';
import { sweep } from '../src/workers/sweep.ts';
import { clientOf, rowsOf, signInAs, startTestGateway, testConfig, testDatabase } from './_gateway.ts';
import { ofNoTwin } from './_twins.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let nowMs = Date.now();
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const waitingForLock =
  "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%sessions%'";

/** Host names that this gateway accepts. Answers under them still contain no code. */
const trusting = {
  GOV_ALLOWED_HOSTS: 'own.example,127.0.0.1.own.example,localhost.own.example',
  GOV_ALLOWED_ORIGINS: 'https://own.example',
};

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, trusting), { now: () => new Date(nowMs) });
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const wrong = (code: string) => String((Number(code) + 1) % 1_000_000).padStart(6, '0');

async function request(email: string): Promise<string> {
  const { body } = await clientOf(gateway.url).requestEmailCode({ body: { email } });
  return body.code ?? '';
}

function verify(email: string, code: string) {
  return clientOf(gateway.url).verifyEmailCode({ body: { email, code } });
}

describe('sign-in by email code', () => {
  verifies(
    'gw.auth.email',
    'gives a token, a user and a workspace of which the user is owner, and keeps code and token as hashes',
    async () => {
      const code = await request('Grace@Example.org ');
      expect(code).toMatch(/^\d{6}$/);
      await expect(verify('grace@example.org', wrong(code))).rejects.toMatchObject({ code: 'CODE_INVALID' });
      const { body } = await verify('grace@example.org', code);
      expect(body).toMatchObject({
        user: { name: 'grace', email: 'grace@example.org' },
        workspace: { name: "grace's workspace" },
      });
      expect(body.token).toMatch(/^cs_[A-Za-z0-9_-]{43}$/);
      const again = await verify('grace@example.org', await request('grace@example.org'));
      expect(again.body).toMatchObject({ user: body.user, workspace: body.workspace });
      const dump = JSON.stringify(await rowsOf(database, 'SELECT s.*, c.* FROM sessions s, email_codes c'));
      expect(dump).not.toContain(body.token);
      expect(dump).not.toContain(`"${code}"`);
    },
  );

  verifies('gw.auth.email', 'sends the code by mail and never returns it', async () => {
    const mails: string[] = [];
    const smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: (stream, _session, done) => {
        stream
          .setEncoding('utf8')
          .on('data', (text: string) => mails.push(text))
          .on('end', () => done());
      },
    });
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve));
    const address = smtp.server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const mailing = await startTestGateway(testConfig(database, { GOV_SMTP_URL: `smtp://127.0.0.1:${port}` }));
    try {
      const { body } = await clientOf(mailing.url).requestEmailCode({ body: { email: 'mail@example.org' } });
      expect(body).toEqual({ sent: true, email: 'mail@example.org' });
      const code = /code is (\d{6})/.exec(mails.join(''))?.[1] ?? '';
      const verified = await clientOf(mailing.url).verifyEmailCode({ body: { email: 'mail@example.org', code } });
      expect(verified.body.user.email).toBe('mail@example.org');
    } finally {
      await mailing.stop();
      await new Promise<void>((resolve) => smtp.close(() => resolve()));
    }
  });

  verifies(
    'gw.auth.email',
    'returns no code outside development, where sign-in is impossible without mail',
    async () => {
      expect(() => testConfig(database, { NODE_ENV: 'production' })).toThrow('GOV_SMTP_URL');
      const tested = await startTestGateway(testConfig(database, { NODE_ENV: 'test' }));
      try {
        const pending = clientOf(tested.url).requestEmailCode({ body: { email: 'absent@example.org' } });
        await expect(pending).rejects.toMatchObject({ code: 'MAIL_UNAVAILABLE' });
        expect(await rowsOf(database, "SELECT 1 FROM email_codes WHERE email = 'absent@example.org'")).toEqual([]);
      } finally {
        await tested.stop();
      }
    },
  );

  verifies('gw.auth.email', 'listens only on loopback while codes are returned', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.org', 'localhost.example.org']) {
      expect(() => testConfig(database, { GOV_GATEWAY_HOST: host })).toThrow('GOV_GATEWAY_HOST');
      testConfig(database, { GOV_GATEWAY_HOST: host, GOV_SMTP_URL: 'smtp://127.0.0.1:25' });
      testConfig(database, { GOV_GATEWAY_HOST: host, NODE_ENV: 'test' });
    }
    for (const host of ['127.0.0.1', '127.8.0.1', '::1', 'localhost'])
      expect(testConfig(database, { GOV_GATEWAY_HOST: host }).revealsCodes).toBe(true);
  });

  verifies(
    'gw.auth.email',
    'returns the code only to a page that was loaded from localhost or a loopback address',
    async () => {
      const answers = async (host: string) => JSON.parse(await requestUnder(host, 'rebound@example.org')) as object;
      for (const host of ['own.example', '127.0.0.1.own.example:3100', 'localhost.own.example', '10.0.0.1'])
        expect(await answers(host)).toEqual({ sent: true, email: 'rebound@example.org' });
      expect(await answers('LOCALHOST:3100')).toHaveProperty('code');
      nowMs += hourMs + 1;
      for (const host of ['127.0.0.1', '127.1.2.3:80', '[::1]:3100'])
        expect(await answers(host)).toHaveProperty('code');
    },
  );

  verifies(
    'gw.auth.email',
    'shows no code to a request that a proxy or a page of another site may have made',
    async () => {
      const answers = (more: readonly string[], email = 'doubted@example.org') =>
        requestUnder('127.0.0.1', email, more);
      nowMs += hourMs + 1;
      const doubts = [
        ['x-forwarded-for', '10.0.0.1'],
        ['via', '1.1 proxy'],
        ['origin', 'https://own.example'],
      ];
      for (const doubt of doubts) expect(await answers(doubt)).toBe('{"sent":true,"email":"doubted@example.org"}');
      expect(await answers(['host', 'own.example'])).toContain('The request needs exactly one Host header');
      for (const stranger of ['https://evil.example', 'null'])
        expect(await answers(['origin', stranger])).toContain('ORIGIN_NOT_ALLOWED');
      expect(await requestUnder('evil.example', 'doubted@example.org')).toContain('HOST_NOT_ALLOWED');
      expect(await answers(['origin', 'http://localhost:3000'], 'near@example.org')).toMatch(/"code":"\d{6}"/);
      expect(() => testConfig(database, { GOV_TRUSTED_PROXIES: '1' })).toThrow('GOV_TRUSTED_PROXIES');
    },
  );

  it('opens a workspace only for people whom the operator allowed', async () => {
    const closed = await startTestGateway(testConfig(database, { GOV_SIGN_UP: 'Ada@example.org, @friends.example' }));
    try {
      for (const email of ['ada@example.org', 'bob@friends.example']) await signInAs(closed.url, email);
      for (const email of ['eve@example.org', 'bob@notfriends.example', 'bob@sub.friends.example'])
        await expect(signInAs(closed.url, email)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      expect(await rowsOf(database, "SELECT 1 FROM users WHERE email = 'eve@example.org'")).toEqual([]);
    } finally {
      await closed.stop();
    }
  });

  it('offers the person at the terminal a code that works once', async () => {
    const { email, code } = await issueLocalSignIn(gateway.context, 'Local@example.org');
    expect((await verify(email, code)).body.user.email).toBe('local@example.org');
    await expect(verify(email, code)).rejects.toMatchObject({ code: 'CODE_INVALID' });
  });

  verifies(
    'gw.auth.email.guess',
    'accepts no code after five wrong attempts, after ten minutes or after its use; a second request returns the same code',
    async () => {
      const guessed = await request('tries@example.org');
      for (let attempt = 0; attempt < 5; attempt += 1)
        await expect(verify('tries@example.org', wrong(guessed))).rejects.toMatchObject({ code: 'CODE_INVALID' });
      await expect(verify('tries@example.org', guessed)).rejects.toMatchObject({ code: 'CODE_INVALID' });

      const late = await request('late@example.org');
      nowMs += 10 * minuteMs;
      await expect(verify('late@example.org', late)).rejects.toMatchObject({ code: 'CODE_INVALID' });

      const first = await request('two@example.org');
      const second = await request('two@example.org');
      expect(second).toBe(first);
      await verify('two@example.org', second);
      await expect(verify('two@example.org', second)).rejects.toMatchObject({ code: 'CODE_INVALID' });

      const parallel = await request('race@example.org');
      const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => verify('race@example.org', parallel)));
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    },
  );

  verifies('gw.auth.email.guess', 'gives the same answer for known and unknown addresses', async () => {
    await signInAs(gateway.url, 'known@example.org');
    const shapes = await Promise.all(
      ['known@example.org', 'unknown@example.org'].map(async (email) => {
        const answer = await post('/api/auth/email/request', { email });
        const refused = await post('/api/auth/email/verify', { email, code: 'nocode' });
        return JSON.stringify([answer, refused])
          .replaceAll(email, 'X')
          .replaceAll(/"code":"\d{6}"/g, '"code":"C"');
      }),
    );
    expect(shapes[0]).toBe(shapes[1]);
  });

  it('sends at most five mails an hour to an address', async () => {
    for (let count = 0; count < 5; count += 1) await request('many@example.org');
    await expect(request('many@example.org')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    const query = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"email":"many@example.org"}',
    };
    const refused = await fetch(new URL('/api/auth/email/request', gateway.url), query);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '3600']);
    nowMs += hourMs + 1;
    await request('many@example.org');
  });
});

describe('a session', () => {
  verifies('gw.auth.logout', 'ends at once with DELETE session', async () => {
    const { client } = await signInAs(gateway.url, 'out@example.org');
    await client.listTasks();
    await client.endSession();
    await expect(client.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });

  verifies(
    'gw.auth.rotation',
    'older than a day is rotated once although requests come in parallel; late reuse revokes the family',
    async () => {
      const person = await signInAs(gateway.url, 'rotate@example.org');
      nowMs += 24 * hourMs;
      const answers = await Promise.all(Array.from({ length: 6 }, () => person.client.listTasks()));
      const tokens = answers.map(({ headers }) => headers.get('x-new-token')).filter((token) => token !== null);
      expect(tokens).toHaveLength(1);
      const renewed = clientOf(gateway.url, { ...person.headers, authorization: `Bearer ${tokens[0]}` });
      nowMs += minuteMs;
      await person.client.listTasks();
      await renewed.listTasks();
      nowMs += 1;
      await expect(person.client.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
      await expect(renewed.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
      const messages = await rowsOf(
        database,
        `SELECT DISTINCT verdict, reason, subject = actor AS of_themselves FROM audit_entries
         WHERE action = 'session.revoked' AND actor = (SELECT id FROM users WHERE email = 'rotate@example.org')`,
      );
      expect(messages).toEqual([{ verdict: 'deny', reason: 'TOKEN_REUSED', of_themselves: true }]);
    },
  );

  it('drops the successor token from the stored answer, which is stored for a day', async () => {
    const { headers, client } = await signInAs(gateway.url, 'keyed@example.org');
    nowMs += 24 * hourMs;
    const create = () =>
      fetch(new URL('/api/tasks', gateway.url), {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': 'key-1' },
        body: JSON.stringify({ title: 'Tidy up', description: '' }),
      });
    const [first, replayed] = [await create(), await create()];
    expect([first.headers.has('x-new-token'), replayed.headers.has('x-new-token')]).toEqual([true, false]);
    expect(replayed.headers.get('idempotency-replayed')).toBe('true');
    const kept = await rowsOf<{ answer: string }>(database, `SELECT answer FROM idempotency_keys WHERE ${ofNoTwin}`);
    expect(kept).toHaveLength(1);
    expect(kept[0]?.answer).not.toContain(first.headers.get('x-new-token'));
    await sweep(gateway.context);
    expect(await rowsOf(database, `SELECT 1 FROM idempotency_keys WHERE ${ofNoTwin}`)).toHaveLength(1);
    await rowsOf(
      database,
      `UPDATE idempotency_keys SET created_at = created_at - interval '24 hours 1 second' WHERE ${ofNoTwin}`,
    );
    await sweep(gateway.context);
    expect(await rowsOf(database, `SELECT 1 FROM idempotency_keys WHERE ${ofNoTwin}`)).toEqual([]);
    await client.endSession();
  });

  verifies('gw.auth.logout', 'that is ended also ends its successor, which is just being created', async () => {
    const person = await signInAs(gateway.url, 'leaving@example.org');
    const { reader, transaction } = gateway.context.database;
    const session = await findSession(reader, sessionTokenHash(person.token));
    if (session === null) throw new Error('The session is not stored');
    const successor = newSessionToken();
    const [createdAt, expiresAt] = [new Date(nowMs), new Date(nowMs + hourMs)];
    let leaving: Promise<unknown> = Promise.resolve();
    await transaction(async (rotation) => {
      expect(await markRotated(rotation, session, createdAt)).toBe(true);
      leaving = person.client.endSession();
      await until(async () => (await rowsOf(database, waitingForLock)).length > 0);
      const place = { userId: session.user.id, familyId: session.familyId };
      await insertSession(rotation, { ...place, tokenHash: sessionTokenHash(successor), createdAt, expiresAt });
    });
    await leaving;
    const heir = clientOf(gateway.url, { ...person.headers, authorization: `Bearer ${successor}` });
    await expect(heir.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });

  it('expires after thirty days', async () => {
    const { client } = await signInAs(gateway.url, 'month@example.org');
    nowMs += 30 * 24 * hourMs;
    await expect(client.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });
});

async function post(path: string, body: object): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'request-1' };
  const response = await fetch(new URL(path, gateway.url), { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

/** Returns the answer to a request with a Host header that `fetch` does not allow. */
function requestUnder(host: string, email: string, more: readonly string[] = []): Promise<string> {
  const { hostname, port } = new URL(gateway.url);
  const body = JSON.stringify({ email });
  const headers = ['host', host, 'content-type', 'application/json', 'content-length', String(body.length), ...more];
  return new Promise((resolve, reject) => {
    const req = httpRequest({ hostname, port, method: 'POST', path: '/api/auth/email/request', headers }, (res) => {
      let text = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      res.on('end', () => resolve(text));
    });
    req.on('error', reject);
    req.end(body);
  });
}
