import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { ErrorEnvelope } from '@countersign/contracts';
import { clientAddress, createRateLimiter, type RateLimiter } from '../src/index.ts';
import { asAdmin, send, startEcho } from './echo-service.ts';

function atTime(keysMax?: number) {
  const clock = { ms: 0 };
  const limiter = createRateLimiter({
    classes: { few: { limit: 2, windowMs: 10_000 } },
    now: () => clock.ms,
    ...(keysMax === undefined ? {} : { keysMax }),
  });
  const take = async (key: string) => await limiter.take(key, 'few');
  return { clock, take };
}

const callerKey = (caller: unknown) => (caller === undefined ? null : 'ada');
const request = { headers: asAdmin, body: '{"text":"a"}' };

describe('the rate limiter', () => {
  it('allows a burst, and then as many requests as time refills', async () => {
    const { clock, take } = atTime();
    const burst = [await take('a'), await take('a'), await take('a')];
    clock.ms = 5_000;
    const later = [await take('a'), await take('a')];
    expect([...burst, ...later].map(({ allowed }) => allowed)).toEqual([true, true, false, true, false]);
    expect(burst[2]?.headers).toEqual({
      ratelimit: '"few";r=0;t=10',
      'ratelimit-policy': '"few";q=2;w=10',
      'retry-after': '5',
    });
  });

  it('counts each key separately, and removes the least recently used beyond its limit', async () => {
    const { take } = atTime(2);
    for (const key of ['a', 'a', 'b', 'b', 'c']) await take(key);
    expect((await take('b')).allowed).toBe(false);
    expect((await take('a')).allowed).toBe(true);
  });

  it('answers 429 with Retry-After for each caller, regardless of forged addresses', async () => {
    const rateLimiter = createRateLimiter({ classes: { standard: { limit: 2, windowMs: 60_000 } } });
    const server = await startEcho({ rateLimiter, callerKey });
    const from = (address: string) =>
      send(server.url, { ...request, headers: { ...asAdmin, 'x-forwarded-for': address } });
    const answers = [await from('1.1.1.1'), await from('2.2.2.2'), await from('3.3.3.3')];
    await server.close();
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('30');
    expect(ErrorEnvelope.parse(JSON.parse(answers[2]?.text ?? '')).error.code).toBe('RATE_LIMITED');
  });

  it('charges refused credentials to the address, and does not limit known callers by it', async () => {
    const rateLimiter = createRateLimiter({ classes: { public: { limit: 2, windowMs: 60_000 } } });
    const server = await startEcho({ rateLimiter, callerKey });
    const guess = (nth: number) =>
      send(server.url, { ...request, headers: { ...asAdmin, authorization: `Bearer guess-${nth}` } });
    const answers = [await guess(1), await guess(2), await guess(3)];
    const response = await send(server.url, request);
    await server.close();
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('30');
    expect(response.status).toBe(200);
  });

  it('refuses requests of classes that fail closed when it is unavailable, and allows others', async () => {
    const broken = (failClosed: boolean): RateLimiter => ({
      take: () => Promise.reject(new Error('down')),
      classOf: () => ({ limit: 1, windowMs: 1, failClosed }),
    });
    const [closed, open] = [
      await startEcho({ rateLimiter: broken(true) }),
      await startEcho({ rateLimiter: broken(false) }),
    ];
    const statuses = [(await send(closed.url, request)).status, (await send(open.url, request)).status];
    await Promise.all([closed.close(), open.close()]);
    expect(statuses).toEqual([503, 200]);
  });
});

describe('clientAddress', () => {
  const from = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage; // only these two members are read

  it('trusts forwarded addresses only as far as trusted proxies wrote them', () => {
    expect(clientAddress(from('10.0.0.9', '6.6.6.6'), 0)).toBe('10.0.0.9');
    expect(clientAddress(from('10.0.0.9', '6.6.6.6, 203.0.113.7'), 1)).toBe('203.0.113.7');
    expect(clientAddress(from('10.0.0.9', '6.6.6.6, 203.0.113.7, 10.0.0.1'), 2)).toBe('203.0.113.7');
    expect(clientAddress(from('10.0.0.9'), 1)).toBe('10.0.0.9');
  });

  it('counts one IPv6 subscriber as one caller', () => {
    expect(clientAddress(from('2001:db8::1'), 0)).toBe(clientAddress(from('2001:db8:0:0:ffff::2'), 0));
    expect(clientAddress(from('::ffff:10.0.0.9'), 0)).toBe('10.0.0.9');
    const networks = {
      '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
      '2001:db8:1:2::6': '2001:db8:1:2::/64',
      '2001:db8:1:3::6': '2001:db8:1:3::/64',
      '2001:db8:1::2:3:4:5': '2001:db8:1:0::/64',
      '::1': '0:0:0:0::/64',
    };
    for (const [address, network] of Object.entries(networks)) {
      expect([address, clientAddress(from(address), 0)]).toEqual([address, network]);
      expect([address, clientAddress(from('10.0.0.9', address), 1)]).toEqual([address, network]);
    }
  });

  it.each([
    ['a port', ['203.0.113.7', '203.0.113.7:40001', '203.0.113.7:40002', '[::ffff:203.0.113.7]:40003'], '203.0.113.7'],
    [
      'a port, brackets, zeros or capitals',
      ['2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:40001', '2001:0db8:0000:0::1', '2001:DB8::1'],
      '2001:db8:0:0::/64',
    ],
  ])('reads an address that a proxy writes with %s as the same caller', (_what, written, network) => {
    for (const address of written)
      expect([address, clientAddress(from('10.0.0.9', `6.6.6.6, ${address}`), 1)]).toEqual([address, network]);
  });
});
