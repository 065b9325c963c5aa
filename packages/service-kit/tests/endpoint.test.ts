import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ErrorEnvelope, errorCodes, type ErrorCode } from '@countersign/contracts';
import { answer, createHandle, createHttpApp, type HttpServer } from '../src/index.ts';
import {
  asAdmin,
  echoEndpoints,
  guards,
  routes,
  send,
  sendBytes,
  silentLog,
  memoryStore,
  startEcho,
  type RawRequest,
} from './echo-service.ts';
import { hostileRequests } from './hostile-requests.ts';

let bare: HttpServer;
let behindExpress: HttpServer;

beforeAll(async () => {
  bare = await startEcho({ fastOperations: ['echo'] });
  behindExpress = await startEcho();
});
afterAll(async () => {
  await Promise.all([bare.close(), behindExpress.close()]);
});

const good = (text: string): RawRequest => ({ headers: asAdmin, body: JSON.stringify({ text }) });

describe('an endpoint', () => {
  it.each(hostileRequests)(
    'answers $guarantee with $status $code in the error envelope',
    async ({ request, status, code, param }) => {
      const got = await send(bare.url, request);
      const { error } = ErrorEnvelope.parse(JSON.parse(got.text));
      expect({ status: got.status, code: error.code }).toEqual({ status, code });
      expect(error.type).toBe(errorCodes[code as ErrorCode].type);
      expect(error.request_id).toBe(got.headers['x-request-id']);
      if (param !== undefined) expect(error.param).toBe(param);
    },
  );

  it('returns the same bytes on the bare server and behind Express', async () => {
    const requests = [
      ...hostileRequests.map(({ request }) => request),
      ...['a', 'refuse', 'prepared', 'ünïcödé 🙂'].map(good),
      { ...good('a'), headers: { ...asAdmin, 'content-type': 'application/json; charset=UTF-8' } },
      { ...good('a'), chunked: true },
      { ...good('a'), path: '/echo?loud=1' },
      { method: 'HEAD', path: '/things/a' },
      { method: 'OPTIONS', path: '/echo' },
    ];
    for (const request of requests) {
      const fixed = { ...request, headers: { ...request.headers, 'x-request-id': 'parity-of-both-ways' } };
      const [left, right] = [await send(bare.url, fixed), await send(behindExpress.url, fixed)];
      expect(comparable(left)).toEqual(comparable(right));
    }
  });

  it('hides the details of an internal error', async () => {
    const got = await send(bare.url, good('crash'));
    expect(got.text).not.toContain('secret detail');
    expect(got.headers['x-echo']).toBe('yes');
  });

  it('challenges a caller without credentials, and distinguishes refused credentials', async () => {
    const missing = await send(bare.url, { body: '{}' });
    const refused = await send(bare.url, { ...good('a'), headers: { ...asAdmin, authorization: 'bearer nope' } });
    expect(missing.headers['www-authenticate']).toBe('Bearer');
    expect(refused.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  it('uses a well-formed request id, and replaces all others', async () => {
    const kept = await send(bare.url, { ...good('a'), headers: { ...asAdmin, 'x-request-id': 'my-request.1' } });
    const replaced = await send(bare.url, { ...good('a'), headers: { ...asAdmin, 'x-request-id': 'no spaces here' } });
    expect(kept.headers['x-request-id']).toBe('my-request.1');
    expect(replaced.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers HEAD with the status and headers of GET, and 405 with the allowed methods', async () => {
    const head = await send(bare.url, { method: 'HEAD', path: '/things/abc' });
    const refused = await send(bare.url, { method: 'DELETE', path: '/things/abc' });
    expect({ status: head.status, text: head.text, length: head.headers['content-length'] }).toEqual({
      status: 200,
      text: '',
      length: '12',
    });
    expect(refused.headers['allow']).toBe('GET, HEAD, OPTIONS');
  });

  it('allows only listed origins to read responses', async () => {
    const server = await startEcho({ cors: { origins: ['https://console.example'] } });
    const preflight = { method: 'OPTIONS', headers: { 'access-control-request-method': 'POST' } };
    const listed = await send(server.url, {
      ...preflight,
      headers: { ...preflight.headers, origin: 'https://console.example' },
    });
    const foreign = await send(server.url, {
      ...preflight,
      headers: { ...preflight.headers, origin: 'https://evil.example' },
    });
    await server.close();
    expect(listed.headers['access-control-allow-origin']).toBe('https://console.example');
    expect(listed.headers['access-control-allow-methods']).toBe('OPTIONS, POST');
    expect(foreign.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('answers invalid HTTP and oversized headers in the error envelope', async () => {
    const garbage = await sendBytes(bare.port, 'HELLO\r\n\r\n');
    const large = await sendBytes(bare.port, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`);
    expect(garbage).toMatch(/^HTTP\/1\.1 400 /);
    expect(large).toMatch(/^HTTP\/1\.1 431 /);
    for (const text of [garbage, large]) ErrorEnvelope.parse(JSON.parse(text.slice(text.indexOf('\r\n\r\n'))));
  });

  it('returns 500 instead of a response that breaks its contract', async () => {
    const broken = createHandle<{ name: string }>('admin')(routes.echo)(({ body }) => ({
      text: body.text,
      caller: 'a',
      extra: 1,
    }));
    const server = await startEcho({ endpoints: [broken] });
    const got = await send(server.url, good('a'));
    await server.close();
    expect(got.status).toBe(500);
  });
});

describe('an http app refuses to start', () => {
  it('without a guard for a route, with a duplicate route, or with an unknown fast operation', () => {
    const base = { endpoints: echoEndpoints, guards, log: silentLog, idempotency: memoryStore() };
    expect(() => createHttpApp({ ...base, guards: { public: () => undefined } })).toThrow('needs a guard for admin');
    expect(() => createHttpApp({ ...base, endpoints: [...echoEndpoints, ...echoEndpoints] })).toThrow('defined twice');
    expect(() => createHttpApp({ ...base, idempotency: null })).toThrow('needs a store for its Idempotency-Key');
    expect(() => createHttpApp({ ...base, fastOperations: ['nope'] })).toThrow('no operation nope');
    expect(() => createHttpApp({ ...base, fastOperations: ['thing'] })).toThrow('path parameters');
  });

  it('with a handler for callers of another auth class', () => {
    expect(() => createHandle<string>('public')(routes.echo)).toThrow('echo is admin');
  });
});

function comparable({ status, rawHeaders, text }: { status: number; rawHeaders: string[]; text: string }) {
  const headers = rawHeaders.join('\n').replace(/\nDate\n[^\n]+/, '');
  return { status, headers, text };
}

describe('the type of a handler', () => {
  it('refuses wrong and missing members, in plain replies and in answers', () => {
    const endpoint = createHandle<{ name: string }>('admin')(routes.echo);
    endpoint(({ caller }) => ({ text: 'a', caller: caller.name }));
    // @ts-expect-error -- `text` must be a string
    endpoint(() => ({ text: 1, caller: 'a' }));
    // @ts-expect-error -- the member `caller` is missing
    endpoint(() => Promise.resolve({ text: 'a' }));
    // @ts-expect-error -- the member `caller` is missing in the answer
    expect(endpoint(() => answer(403, { text: 'a' })).route).toBe(routes.echo);
  });
});
