import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createClient, createRawClient, defineRoute, type ClientOptions } from '../src/index.ts';
import { createKernelClient } from '../src/routes/index.ts';

const Thing = z.strictObject({ name: z.string() });
const routes = {
  getThing: defineRoute({
    operation: 'get-thing',
    summary: 'A thing.',
    method: 'GET',
    path: '/things/{id}',
    auth: 'public',
    params: z.strictObject({ id: z.string() }),
    reply: Thing,
  }),
  makeThing: defineRoute({
    operation: 'make-thing',
    summary: 'A new thing, or a refusal with the same body.',
    method: 'POST',
    idempotency: 'key',
    path: '/things',
    auth: 'public',
    alsoStatus: [403],
    body: Thing,
    reply: Thing,
  }),
};

type Play = (req: IncomingMessage, res: ServerResponse, body: string) => void;
type Seen = { method: string; url: string; body: string; headers: IncomingMessage['headers'] };

let server: Server;
let baseUrl: string;
let seen: Seen[] = [];
/** Longer than any test, so that repeats never end because of this limit. */
const longMs = 3_600_000;
/** The peer's actions for its first, second, … request. The last one applies to all further requests. */
let plays: Play[] = [];

const say =
  (status: number, body: unknown): Play =>
  (_req, res) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    res.writeHead(status, { 'content-type': 'application/json' }).end(text);
  };
const cut: Play = (req) => req.socket.destroy();
const hang: Play = () => undefined;
const elsewhere: Play = (_req, res) => void res.writeHead(302, { location: '/things/b' }).end();
const refusal = (code: string, retryable = true) => ({
  error: {
    message: 'No.',
    type: 'conflict_error',
    code,
    param: null,
    reason_code: null,
    request_id: 'a-request',
    retryable,
  },
});

beforeAll(async () => {
  server = createServer((req, res) => {
    const chunks: Uint8Array[] = [];
    req.on('data', (chunk: Uint8Array) => chunks.push(chunk));
    req.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      seen.push({ method: req.method ?? '', url: req.url ?? '', body, headers: req.headers });
      (plays.length > 1 ? plays.shift() : plays[0])?.(req, res, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a listening TCP server has an address object
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  seen = [];
});

const rawClient = (options: Partial<ClientOptions> = {}) => createRawClient(routes, { baseUrl, ...options });
const keyed = { body: { name: 'a' }, headers: { 'idempotency-key': 'key-1' } };

describe('a raw call', () => {
  it('returns every answer of the peer with its status', async () => {
    plays = [say(403, { name: 'refused' }), say(409, refusal('ALREADY_EXISTS')), say(418, { teapot: true })];
    const client = rawClient();
    const answers = [await client.makeThing(keyed), await client.makeThing(keyed), await client.makeThing(keyed)];
    expect(answers.map(({ kind, status }) => [kind, status])).toEqual([
      ['replied', 403],
      ['refused', 409],
      ['refused', 418],
    ]);
  });

  it.each<[string, Play, string]>([
    ['breaks its contract', say(200, { name: 1 }), 'malformed'],
    ['is not JSON', say(200, '{'), 'malformed'],
    ['is not UTF-8', (_req, res) => void res.end(Buffer.from('{"name":"\xff"}', 'latin1')), 'malformed'],
    ['never ends', (_req, res) => flood(res), 'malformed'],
    ['arrives too late', hang, 'late'],
    ['is cut off', cut, 'unreachable'],
    ['redirects elsewhere', elsewhere, 'unreachable'],
  ])('fails when the answer %s', async (_what, play, fault) => {
    plays = [play, say(200, { name: 'somebody else' })];
    const client = rawClient({ timeoutMs: fault === 'late' ? 300 : 20_000 });
    await expect(client.getThing({ params: { id: 'a' } })).rejects.toMatchObject({ name: 'CallFailed', fault });
    expect(seen).toHaveLength(1);
  });

  it('ends when its caller aborts', async () => {
    plays = [hang];
    const abort = new AbortController();
    const call = rawClient({ repeatsForMs: longMs }).getThing({ params: { id: 'a' }, signal: abort.signal });
    setTimeout(() => abort.abort(), 100); // any delay works, since the peer never answers
    await expect(call).rejects.toMatchObject({ fault: 'aborted' });
    expect(seen).toHaveLength(1);
  });
});

/** A body above the size limit, without a content-length header. */
function flood(res: ServerResponse): void {
  const chunk = Buffer.alloc(1_048_576, 0x20);
  const more = () => {
    while (!res.destroyed) if (!res.write(chunk)) return void res.once('drain', more);
  };
  res.on('error', () => undefined);
  more();
}

describe('a client that repeats', () => {
  it('sends a keyed write again, with the same bytes, when the peer is unreachable or answers "not now"', async () => {
    plays = [cut, say(503, refusal('STORE_UNAVAILABLE')), say(200, { name: 'made' })];
    const answer = await rawClient({ repeatsForMs: longMs }).makeThing(keyed);
    expect(answer).toMatchObject({ kind: 'replied', body: { name: 'made' } });
    expect(seen.map(({ body, headers }) => [body, headers['idempotency-key']])).toEqual(
      Array.from({ length: 3 }, () => ['{"name":"a"}', 'key-1']),
    );
  });

  it('stops after its time limit, and when the peer answers that a retry is useless', async () => {
    plays = [cut];
    const lessThanAPause = 100;
    await expect(rawClient({ repeatsForMs: lessThanAPause }).makeThing(keyed)).rejects.toMatchObject({
      fault: 'unreachable',
    });
    expect(seen).toHaveLength(1);
    plays = [say(503, refusal('UPSTREAM_NOT_CONFIGURED', false))];
    expect(await rawClient({ repeatsForMs: longMs }).makeThing(keyed)).toMatchObject({ kind: 'refused', status: 503 });
    expect(seen).toHaveLength(2);
  });

  it('builds its headers for each attempt, since a credential may expire between two attempts', async () => {
    plays = [cut, say(503, refusal('STORE_UNAVAILABLE')), say(200, { name: 'made' })];
    let nth = 0;
    const headers = async () => ({ authorization: `Bearer ${(nth += 1)}`, 'idempotency-key': 'of-nobody' });
    await rawClient({ repeatsForMs: longMs, headers }).makeThing(keyed);
    expect(seen.map(({ headers: sent }) => [sent.authorization, sent['idempotency-key']])).toEqual([
      ['Bearer 1', 'key-1'],
      ['Bearer 2', 'key-1'],
      ['Bearer 3', 'key-1'],
    ]);
  });

  it('repeats a request while the peer still handles the first one under its key', async () => {
    plays = [say(409, refusal('IDEMPOTENCY_IN_FLIGHT')), say(200, { name: 'made' })];
    expect(await rawClient({ repeatsForMs: longMs }).makeThing(keyed)).toMatchObject({ kind: 'replied', status: 200 });
    expect(seen).toHaveLength(2);
  });

  it('sends a write without a key once, because the write may have happened although its answer was lost', async () => {
    plays = [cut, say(200, { name: 'made' })];
    const call = rawClient({ repeatsForMs: longMs }).makeThing({ body: { name: 'a' } });
    await expect(call).rejects.toMatchObject({ fault: 'unreachable' });
    expect(seen).toHaveLength(1);
  });

  it('does not repeat after a malformed answer, and repeats nothing by default', async () => {
    plays = [say(200, '{')];
    await expect(rawClient({ repeatsForMs: longMs }).makeThing(keyed)).rejects.toMatchObject({ fault: 'malformed' });
    plays = [say(503, refusal('STORE_UNAVAILABLE'))];
    expect(await rawClient().makeThing(keyed)).toMatchObject({ kind: 'refused', status: 503 });
    expect(seen).toHaveLength(2);
  });
});

describe('a typed call', () => {
  it('throws the code of the peer, or UPSTREAM_FAILED when the peer returned no valid error', async () => {
    const client = createClient(routes, { baseUrl });
    plays = [say(409, refusal('ALREADY_EXISTS')), say(200, { name: 1 }), cut, say(418, {})];
    const codes = [];
    for (let call = 0; call < 4; call += 1)
      codes.push(await client.makeThing(keyed).catch((error: { code: string }) => error.code));
    expect(codes).toEqual(['ALREADY_EXISTS', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED', 'UPSTREAM_FAILED']);
  });
});

describe('the client of the kernel', () => {
  it('sends the tenant and the principal of each call', async () => {
    plays = [say(404, refusal('NOT_FOUND'))];
    const kernel = createKernelClient({ baseUrl, apiKey: 'the-key' });
    await kernel.rawAs({ tenant: 'acme', principal: 'alice' }).getReceipt({ params: { receipt_id: 'a/b' } });
    await kernel.rawAs({ tenant: 'acme' }).listBudgets();
    expect(seen.map(({ url, headers }) => [url, headers['x-gov-tenant-id'], headers['x-gov-principal-id']])).toEqual([
      ['/api/v1/receipts/a%2Fb', 'acme', 'alice'],
      ['/api/v1/budgets', 'acme', undefined],
    ]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer the-key', 'Bearer the-key']);
  });
});
