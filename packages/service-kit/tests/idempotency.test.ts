import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { answerOnce, type HttpServer, type IdempotencyStore, type StoredAnswer } from '../src/index.ts';
import { asAdmin, EchoBody, handleAdmin, memoryStore, routes, send, silentLog, startEcho } from './echo-service.ts';

let server: HttpServer;
let runs = 0;
const gate: { release: () => void } = { release: () => undefined };

beforeAll(async () => {
  const counting = handleAdmin(routes.echo)(async ({ body, caller, setHeader }) => {
    runs += 1;
    setHeader('etag', `"${runs}"`);
    setHeader('X-New-Token', 'a-live-token');
    if (body.text === 'slow') await new Promise<void>((resolve) => (gate.release = resolve));
    if (body.text === 'crash' && runs === 1) throw new Error('once');
    return { text: `${body.text} ${runs}`, caller: caller.name };
  });
  server = await startEcho({ endpoints: [counting], idempotency: memoryStore(), callerKey: () => 'ada' });
});
afterAll(async () => await server.close());

function call(key: string, text: string) {
  runs = key.startsWith('again') ? runs : 0;
  return send(server.url, {
    headers: { ...asAdmin, 'idempotency-key': key },
    body: JSON.stringify(EchoBody.parse({ text })),
  });
}

describe('a route with Idempotency-Key', () => {
  it('runs once and replays status, body and headers', async () => {
    const first = await call('"key-1"', 'a');
    const second = await call('key-1', 'a');
    expect(runs).toBe(0);
    expect(second.text).toBe(first.text);
    expect(second.headers['etag']).toBe('"1"');
    expect([first, second].map(({ headers }) => headers['idempotency-replayed'])).toEqual([undefined, 'true']);
  });

  it('returns a credential only to the first request', async () => {
    const answers = [await call('key-5', 'a'), await call('key-5', 'a')];
    expect(answers.map(({ headers }) => headers['x-new-token'])).toEqual(['a-live-token', undefined]);
  });

  it('answers 422 to another body under the same key, and does not run it', async () => {
    await call('key-2', 'a');
    const second = await call('key-2', 'b');
    expect({ status: second.status, runs }).toEqual({ status: 422, runs: 0 });
  });

  it('answers 409 while the first request runs', async () => {
    const first = call('key-3', 'slow');
    while (runs === 0) await new Promise((resolve) => setImmediate(resolve));
    const second = await call('again-key-3'.slice(6), 'slow');
    gate.release();
    expect([(await first).status, second.status]).toEqual([200, 409]);
  });

  it('runs again after a failure', async () => {
    const failed = await call('key-4', 'crash');
    runs = 1;
    const retried = await send(server.url, {
      headers: { ...asAdmin, 'idempotency-key': 'key-4' },
      body: '{"text":"crash"}',
    });
    expect([failed.status, retried.status]).toEqual([500, 200]);
  });

  it.each(['', '"open', 'a b', 'x'.repeat(256)])('refuses the malformed key %j', async (key) => {
    expect((await call(key, 'a')).status).toBe(400);
  });
});

describe('work under a key', () => {
  const claim = { key: 'key', fingerprint: 'sha256:a' };
  const done: StoredAnswer = { status: 200, headers: {}, text: '{}' };
  const options = (store: IdempotencyStore) => ({ store, scope: 'scope', claim, log: silentLog });

  it('returns its answer even if the answer cannot be stored, because it has had its effect', async () => {
    const store = { ...memoryStore(), complete: () => Promise.reject(new Error('away')) };
    expect(await answerOnce(options(store), async () => done)).toEqual({ answer: done, replayed: false });
  });

  it('fails with its own error even if its key cannot be released', async () => {
    const store = { ...memoryStore(), abandon: () => Promise.reject(new Error('away')) };
    const work = () => Promise.reject(new Error('its own'));
    await expect(answerOnce(options(store), work)).rejects.toThrow('its own');
  });
});
