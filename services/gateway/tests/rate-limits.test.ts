import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let open: StartedGateway;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  database = await testDatabase();
  open = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  ada = await signInAs(open.url, 'ada@example.org');
  eve = await signInAs(open.url, 'eve@example.org');
});

afterAll(async () => {
  await open?.stop();
  await database?.drop();
});

const limits = {
  GOV_RATE_LIMITS: '1',
  GOV_RATE_LIMIT_STANDARD: '5',
  GOV_RATE_LIMIT_AUTH: '3',
  GOV_RATE_LIMIT_PUBLIC: '4',
};

/** Runs `work` against a separate gateway with rate limits, so that tests do not share limits. */
async function underLimits(more: Record<string, string>, work: (url: string) => Promise<void>): Promise<void> {
  const gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', ...limits, ...more }));
  await work(gateway.url).finally(() => gateway.stop());
}

/** Returns headers of a caller that pretends to have another address. */
const disguises = (nth: number): Record<string, string> => ({
  'x-forwarded-for': `10.0.0.${nth}`,
  'x-real-ip': `10.0.0.${nth}`,
  forwarded: `for=10.0.0.${nth}`,
  'x-request-id': `request-number-${nth}`,
  'user-agent': `agent ${nth}`,
  'x-gov-principal-id': `somebody-${nth}`,
});

const statusOf = async (response: Promise<Response>) => (await response).status;
const statusesOf = async (count: number, ask: (nth: number) => Promise<Response>) => {
  const statuses: number[] = [];
  for (let nth = 0; nth < count; nth += 1) statuses.push(await statusOf(ask(nth)));
  return statuses;
};

describe('limits', () => {
  verifies(
    'gw.ratelimit',
    'count each person by the proven identity, in every session and workspace, whatever other headers claim',
    async () => {
      const again = await signInAs(open.url, 'ada@example.org');
      await underLimits({}, async (url) => {
        const ask = (person: Person, headers: Record<string, string> = {}) =>
          fetch(new URL('/api/tasks', url), { headers: { ...person.headers, ...headers } });
        const tokens = [ada, again];
        expect(await statusesOf(4, (nth) => ask(tokens[nth % 2] ?? ada, disguises(nth)))).toEqual([200, 200, 200, 200]);
        expect(await statusOf(ask(ada, { 'x-workspace-id': eve.workspace.id }))).toBe(404);
        const refused = await ask(again, disguises(9));
        expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED', retryable: true } });
        expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
        expect(refused.headers.get('ratelimit')).toContain('r=0');
        expect(await statusOf(ask(eve))).toBe(200);
      });
    },
  );

  verifies('gw.ratelimit', 'count sign-ins and failures by an address that a caller cannot choose', async () => {
    await underLimits({}, async (url) => {
      const verify = (nth: number) =>
        fetch(new URL('/api/auth/email/verify', url), {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...disguises(nth) },
          body: JSON.stringify({ email: `guess${nth}@example.org`, code: '000000' }),
        });
      expect(await statusesOf(5, verify)).toEqual([401, 401, 401, 429, 429]);
      const guess = (nth: number) =>
        fetch(new URL('/api/tasks', url), { headers: { 'x-api-key': `hp_${nth}`, ...disguises(nth) } });
      expect(await statusesOf(6, guess)).toEqual([401, 401, 401, 401, 429, 429]);
      // Anonymous requests from the same address do not use the limit of a signed-in person.
      expect(await statusOf(fetch(new URL('/api/tasks', url), { headers: ada.headers }))).toBe(200);
    });
  });

  verifies('gw.ratelimit', 'count requests for codes by caller before the target address', async () => {
    await underLimits({}, async (url) => {
      const askAt = (gateway: string) => (nth: number) =>
        fetch(new URL('/api/auth/email/request', gateway), {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...disguises(nth) },
          body: JSON.stringify({ email: 'flooded@example.org' }),
        });
      expect(await statusesOf(6, askAt(url))).toEqual([200, 200, 200, 429, 429, 429]);
      // The refused mails do not count towards the limit of five mails per hour and address.
      expect(await statusesOf(3, askAt(open.url))).toEqual([200, 200, 429]);
    });
  });

  verifies('gw.ratelimit', 'count requests for unknown routes by address, whatever their credential', async () => {
    await underLimits({}, async (url) => {
      const statuses: number[] = [];
      for (let nth = 0; nth < 6; nth += 1) {
        const headers = { ...disguises(nth), authorization: `Bearer cs_${String(nth).repeat(43)}` };
        statuses.push((await fetch(`${url}/no/such-path/${nth}`, { headers })).status);
      }
      expect(statuses).toEqual([404, 404, 404, 404, 429, 429]);
    });
  });

  verifies('gw.ratelimit', 'use only the forwarded address that our own proxy wrote', async () => {
    const behind = { GOV_TRUSTED_PROXIES: '1', NODE_ENV: 'test' };
    await underLimits(behind, async (url) => {
      const guess = (address: string) =>
        fetch(new URL('/api/tasks', url), { headers: { 'x-api-key': 'hp_x', 'x-forwarded-for': address } });
      expect(await statusesOf(5, (nth) => guess(`192.0.2.${nth}, 198.51.100.7`))).toEqual([401, 401, 401, 401, 429]);
      expect(await statusOf(guess('198.51.100.7, 203.0.113.9'))).toBe(401);
    });
  });
});
