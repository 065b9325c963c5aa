import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HttpServer } from '../src/index.ts';
import { asAdmin, send, sendBytes, startEcho, type RawRequest } from './echo-service.ts';

const servers: Record<string, HttpServer> = {};
let mounted = 0;
beforeAll(async () => {
  const names = { hosts: ['Door.example'], cors: { origins: ['https://console.example'] } };
  const mount = (app: { get(path: string, run: (req: unknown, res: { end(): void }) => void): void }) =>
    app.get('/mounted', (_req, res) => {
      mounted += 1;
      res.end();
    });
  servers['in front of Express'] = await startEcho({ ...names, fastOperations: ['echo'] });
  servers['behind Express'] = await startEcho({ ...names, mount: mount as never }); // Express's own type, as far as it is used
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.close())));

const call = (headers: Record<string, string>): RawRequest => ({
  headers: { ...asAdmin, ...headers },
  body: '{"text":"x"}',
});
async function answered(place: string, request: RawRequest) {
  const { status, text } = await send(servers[place]?.url ?? '', request);
  return [status, status === 403 ? (JSON.parse(text) as { error: { code: string } }).error.code : null];
}

describe.each(['in front of Express', 'behind Express'])('a request %s', (place) => {
  it.each([
    ['localhost'],
    ['localhost:80'],
    ['LOCALHOST'],
    ['127.0.0.1:3000'],
    ['[::1]:3000'],
    ['10.0.0.7'],
    ['[fd00::7]:8080'],
    ['door.example'],
    ['DOOR.example:443'],
  ])('to the host %s is accepted', async (host) => {
    expect(await answered(place, call({ host }))).toEqual([200, null]);
  });

  it.each([
    ['evil.example'],
    ['localhost.evil.example'],
    ['127.0.0.1.evil.example'],
    ['127.0.0.1@evil.example'],
    ['evil.example#localhost'],
    ['evil.example:80/localhost'],
    ['[::1].evil.example'],
    ['[evil.example]'],
    ['localhost:port'],
    ['door.example.'],
    ['notdoor.example'],
  ])('to the host "%s" is refused', async (host) => {
    expect(await answered(place, call({ host }))).toEqual([403, 'HOST_NOT_ALLOWED']);
  });

  it('to two hosts is refused, in either order', async () => {
    for (const hosts of [
      ['localhost', 'evil.example'],
      ['evil.example', 'localhost'],
      ['localhost', 'localhost'],
    ]) {
      const head = ['POST /echo HTTP/1.1', ...hosts.map((host) => `Host: ${host}`), 'Connection: close', '', ''];
      const answer = await sendBytes(Number(new URL(servers[place]?.url ?? '').port), head.join('\r\n'));
      expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*INVALID_REQUEST[^]*Host/);
    }
  });

  it.each([
    ['https://console.example', {}],
    ['http://localhost:5173', {}],
    ['http://[::1]:5173', {}],
    ['https://door.example', {}],
    ['http://10.0.0.7:3000', { host: '10.0.0.7:3000' }],
  ])('from a page of %s is accepted', async (origin, headers) => {
    expect(await answered(place, call({ origin, ...headers }))).toEqual([200, null]);
  });

  it.each([
    ['https://evil.example', {}],
    ['http://console.example', {}],
    ['https://console.example.evil.example', {}],
    ['https://localhost.evil.example', {}],
    ['http://10.0.0.8:3000', { host: '10.0.0.7:3000' }],
    ['http://10.0.0.7:4000', { host: '10.0.0.7:3000' }],
    ['null', {}],
    ['', {}],
    ['file://', {}],
  ])('from a page of "%s" is refused', async (origin, headers) => {
    expect(await answered(place, call({ origin, ...headers }))).toEqual([403, 'ORIGIN_NOT_ALLOWED']);
  });
});

describe('a path without an endpoint', () => {
  it('is guarded like the endpoints', async () => {
    const foreign = { host: 'evil.example' };
    const place = 'behind Express';
    const requests: RawRequest[] = [
      { method: 'GET', path: '/mounted' },
      { method: 'GET', path: '/nothing' },
      { method: 'OPTIONS', path: '/echo' },
    ];
    for (const request of requests)
      expect(await answered(place, { ...request, headers: foreign })).toEqual([403, 'HOST_NOT_ALLOWED']);
    expect(mounted).toBe(0);
    expect(await answered(place, { method: 'GET', path: '/mounted' })).toEqual([200, null]);
  });
});
