import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { FailedCall, HttpServer } from '../src/index.ts';
import { asAdmin, send, startEcho, type RawRequest } from './echo-service.ts';

let server: HttpServer;
let calls: FailedCall[];

beforeAll(async () => {
  server = await startEcho({
    onFailed: (call) => {
      calls.push(call);
      if (call.requestId === 'throws') throw new Error('the listener is broken');
    },
  });
});
beforeEach(() => {
  calls = [];
});
afterAll(() => server.close());

async function failedBy(request: RawRequest): Promise<FailedCall> {
  const { status } = await send(server.url, request);
  const [call, ...more] = calls;
  if (call === undefined || more.length > 0) throw new Error(`told ${calls.length} times of ${status}`);
  expect(call.status).toBe(status);
  return call;
}

describe('a failed call', () => {
  it('is reported once, with everything that was read of it', async () => {
    const refused = await failedBy({ headers: asAdmin, body: '{"text":1,"odd":2}', path: '/echo?loud=1' });
    expect(refused).toMatchObject({
      path: '/echo',
      received: { text: 1, odd: 2 },
      receivedBytes: 18,
      query: { loud: '1' },
      error: { code: 'UNKNOWN_MEMBER' },
      principal: { name: 'ada' },
    });
    expect(refused.answered('content-type')).toBeNull();
  });

  it.each<[string, RawRequest, object]>([
    [
      'without credentials',
      { body: '{}' },
      { principal: undefined, received: undefined, receivedBytes: null, status: 401 },
    ],
    ['with malformed JSON', { headers: asAdmin, body: '{"text":' }, { received: undefined, receivedBytes: 8 }],
    ['with a malformed query', { headers: asAdmin, body: '{}', path: '/echo?a=1&a=2' }, { query: null, status: 400 }],
    [
      'with an error status from its handler',
      { headers: asAdmin, body: '{"text":"refuse"}' },
      { error: null, status: 403 },
    ],
    [
      'with an internal error',
      { headers: asAdmin, body: '{"text":"crash"}' },
      { error: { code: 'INTERNAL' }, status: 500 },
    ],
    [
      'with a parameter',
      { method: 'GET', path: `/things/${'x'.repeat(30)}` },
      { params: { thing_id: 'x'.repeat(30) } },
    ],
    [
      'with a path of no route',
      { method: 'GET', path: '/things/a/b/forget' },
      { path: '/things/{…}/{…}/{…}', route: null },
    ],
    ['with another method', { method: 'PUT', path: '/things/a/forget' }, { path: '/things/{…}/forget', status: 405 }],
    ['with a malformed path', { method: 'GET', path: '/things/%ff' }, { path: '/things/{…}', status: 400 }],
    [
      'with a long path of no route',
      { method: 'GET', path: `/${'a/'.repeat(50)}` },
      { path: `/${Array(11).fill('{…}').join('/')}` },
    ],
  ])('%s is described in the report', async (_name, request, expected) => {
    expect(await failedBy(request)).toMatchObject(expected);
  });

  it('gets a new request id when a credential was sent as its id', async () => {
    for (const id of ['hp_abcdefgh', 'agk_abcdefgh', 'cs_abcdefgh', 'eyJhbGciOi.J9.a'])
      expect((await send(server.url, { headers: { 'x-request-id': id } })).headers['x-request-id']).toMatch(
        /^[0-9a-f-]{36}$/,
      );
  });

  it('is answered even if the listener fails, and successful calls are not reported', async () => {
    const { status, text } = await send(server.url, { headers: { 'x-request-id': 'throws' }, body: '{}' });
    expect([status, JSON.parse(text)]).toMatchObject([401, { error: { request_id: 'throws' } }]);
    calls = [];
    expect((await send(server.url, { headers: asAdmin, body: '{"text":"a"}' })).status).toBe(200);
    expect(calls).toEqual([]);
  });
});
