import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { AppError, defineRoute } from '@countersign/contracts';
import { z } from 'zod';
import {
  createLifecycle,
  handlePublic,
  healthEndpoints,
  openTelemetry,
  openEventStream,
  takenOver,
  type Endpoint,
  type EventStream,
  type HealthCheck,
  type ServeOptions,
} from '../src/index.ts';
import { asAdmin, echoEndpoints, send, sendBytes, silentLog, startEcho } from './echo-service.ts';

const eventsRoute = defineRoute({
  operation: 'events',
  summary: 'Streams.',
  method: 'GET',
  path: '/events',
  auth: 'public',
  media: 'event-stream',
  query: z.strictObject({ refuse: z.string().optional() }),
  reply: z.unknown(),
});

/** A stream server whose handler passes its stream to the test. */
async function startStream() {
  let opened: (stream: EventStream) => void = () => undefined;
  const stream = new Promise<EventStream>((resolve) => (opened = resolve));
  const events = handlePublic(eventsRoute)((input) => {
    if (input.query.refuse !== undefined) throw new AppError('NOT_FOUND', 'No such stream');
    opened(openEventStream(input, { heartbeatMs: 5, retryMs: 1_000 }));
    return takenOver;
  });
  return { server: await startEcho({ endpoints: [events] }), stream };
}

async function readUntil(reader: ReadableStreamDefaultReader<Uint8Array>, wanted: RegExp): Promise<string> {
  let text = '';
  while (!wanted.test(text)) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString('utf8');
  }
  return text;
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error('no body');
  return response.body.getReader();
}

describe('an event stream', () => {
  it('sends retry, ids, names, data and heartbeats, and has the headers of all responses', async () => {
    const { server, stream } = await startStream();
    const response = await fetch(`${server.url}/events`);
    const reader = readerOf(response);
    expect(await (await stream).send({ id: '7', event: 'receipt\ninjected: x', data: { a: 'line\nbreak' } })).toBe(
      true,
    );
    // On a busy computer, a heartbeat may come before the data.
    const text = await readUntil(reader, /(?=[\s\S]*heartbeat)(?=[\s\S]*data: .*\n\n)/);
    await reader.cancel();
    await server.close();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-request-id')).toBeTruthy();
    expect(text).toContain('retry: 1000\n\n');
    expect(text).toContain('id: 7\nevent: receiptinjected: x\ndata: {"a":"line\\nbreak"}\n\n');
  });

  it('ends for the sender when the client disconnects', async () => {
    const { server, stream } = await startStream();
    const reader = readerOf(await fetch(`${server.url}/events`));
    const { ended, send: sendEvent } = await stream;
    const aborted = new Promise((resolve) => ended.addEventListener('abort', resolve));
    await reader.cancel();
    await aborted;
    expect(await sendEvent({ data: 1 })).toBe(false);
    await server.close();
  });

  it('makes the sender wait for a client that does not read', async () => {
    const { server, stream } = await startStream();
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write('GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n'),
    );
    socket.pause();
    const { send: sendEvent } = await stream;
    let sent = 0;
    const flood = (async () => {
      while (sent < 1_000 && (await sendEvent({ data: 'x'.repeat(100_000) }))) sent += 1;
    })();
    // A sender that ignores back-pressure would send everything before the next turn of the event loop.
    await turn();
    expect(sent).toBeLessThan(1_000);
    socket.destroy();
    await flood;
    await server.close();
  });

  it('ends in order when the process drains, so that draining does not wait for it', async () => {
    const { server, stream } = await startStream();
    const reader = readerOf(await fetch(`${server.url}/events`));
    await stream;
    const closed = server.close();
    expect(await readUntil(reader, /never/)).toContain('retry');
    await closed;
  });

  it('returns a refusal as JSON in the error envelope', async () => {
    const { server } = await startStream();
    const got = await send(server.url, { method: 'GET', path: '/events?refuse=1' });
    const head = await send(server.url, { method: 'HEAD', path: '/events' });
    await server.close();
    expect({ status: got.status, type: got.headers['content-type'] }).toEqual({
      status: 404,
      type: 'application/json; charset=utf-8',
    });
    expect(head.status).toBe(405);
  });
});

const slowRoute = defineRoute({
  operation: 'slow',
  summary: 'Waits.',
  method: 'GET',
  path: '/slow',
  auth: 'public',
  reply: z.strictObject({ done: z.literal(true) }),
});

/** A server with one request in flight, which ends when `release` is called. */
async function withRequestInFlight(serve: Partial<ServeOptions> = {}, beside: readonly Endpoint[] = []) {
  const releases: (() => void)[] = [];
  let entered = () => undefined as void;
  const inside = new Promise<void>((resolve) => (entered = resolve));
  const slow = handlePublic(slowRoute)(async ({ signal }) => {
    entered();
    await new Promise<void>((resolve) => {
      releases.push(resolve);
      signal.addEventListener('abort', () => resolve());
    });
    return { done: true };
  });
  const server = await startEcho({ endpoints: [slow, ...beside] }, serve);
  const answered = fetch(`${server.url}/slow`);
  await inside;
  return { server, answered, release: () => releases.forEach((release) => release()) };
}

const liveRoute = defineRoute({
  operation: 'live',
  summary: 'A WebSocket.',
  method: 'GET',
  path: '/live',
  auth: 'public',
  media: 'socket',
  reply: z.unknown(),
});
const live = handlePublic(liveRoute)(() => {
  throw new AppError('UPGRADE_REQUIRED', 'Not here');
});

const asWebSocket = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const asHttp2 = 'Connection: Upgrade\r\nUpgrade: h2c\r\n';

describe('a request with too many header lines', () => {
  const lines = 'a:\r\n'.repeat(1_100);

  it.each([
    ['requests no upgrade', '/things/a', ''],
    ['requests HTTP/2', '/things/a', asHttp2],
    ['requests a WebSocket', '/live', asWebSocket],
  ])('gets 431 when it %s, and its body is not read as a request', async (_wish, path, wish) => {
    const server = await startEcho({ endpoints: [...echoEndpoints, live] });
    const inner = 'GET /things/inner HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${wish}${lines}Content-Length: ${inner.length}\r\n\r\n`;
    const text = await sendBytes(server.port, head + inner);
    await server.close();
    expect(text.split('\r\n')[0]).toBe('HTTP/1.1 431 Request Header Fields Too Large');
    expect(text).toContain('more than 1000 header lines');
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });
});

describe('a request after one without a response yet', () => {
  it.each([
    ['requests a WebSocket', `GET /live HTTP/1.1\r\nHost: localhost\r\n${asWebSocket}\r\n`],
    ['requests HTTP/2', `GET /things/a HTTP/1.1\r\nHost: localhost\r\n${asHttp2}\r\n`],
    ['cannot be read', 'nonsense\r\n\r\n'],
    ['has too many header lines', `GET /things/a HTTP/1.1\r\nHost: localhost\r\n${'a:\r\n'.repeat(1_100)}\r\n`],
  ])('closes the connection when it %s, and the server continues', async (_wish, second) => {
    const { server, answered, release } = await withRequestInFlight({}, [...echoEndpoints, live]);
    const text = await sendBytes(server.port, `GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n${second}`);
    release();
    const response = await fetch(`${server.url}/things/a`);
    await server.close();
    expect(text).toBe('');
    expect((await answered).status).toBe(200);
    expect(response.status).toBe(200);
  });
});

describe('closing', () => {
  it('accepts no new requests, lets running ones end, then resolves', async () => {
    const { server, answered, release } = await withRequestInFlight();
    const closed = server.close();
    await expect(fetch(server.url)).rejects.toThrow();
    release();
    const response = await answered;
    expect({ status: response.status, connection: response.headers.get('connection') }).toEqual({
      status: 200,
      connection: 'close',
    });
    await closed;
  });

  it('aborts the signal of each request that does not end within the grace period', async () => {
    const { server, answered } = await withRequestInFlight({ graceMs: 20 });
    const refused = expect(answered).rejects.toThrow();
    await server.close();
    await refused;
  });

  it('closes idle kept-alive connections', async () => {
    const server = await startEcho();
    const { socket, ended } = await connectTo(server.port);
    socket.write(request('/things/a'));
    expect(await receive(socket, '"id":"a"')).toMatch(/connection: keep-alive/i);
    await Promise.all([server.close(), ended]);
  });

  it('closes connections that were opened before use', async () => {
    const server = await startEcho();
    const accepted = once(server.server, 'connection');
    const { ended } = await connectTo(server.port);
    await accepted;
    await Promise.all([server.close(), ended]);
  });

  it('closes a connection after its response, even if it was to be kept alive', async () => {
    const { server, stream } = await startStream();
    const { socket, ended } = await connectTo(server.port);
    socket.write(request('/events'));
    expect(await receive(socket, 'retry: 1000')).toMatch(/connection: keep-alive/i);
    await stream;
    await Promise.all([server.close(), ended]);
  });
});

const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`;

async function receive(socket: Socket, wanted: string): Promise<string> {
  let text = '';
  while (!text.includes(wanted)) text += String(await once(socket, 'data'));
  return text;
}

async function connectTo(port: number): Promise<{ socket: Socket; ended: Promise<unknown> }> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  // A connection may also end with a reset.
  const ended = new Promise((resolve) => socket.once('close', resolve).on('error', () => undefined));
  await once(socket, 'connect');
  return { socket, ended };
}

describe('health', () => {
  it('is ready when all checks succeed, names failed checks, and is always live', async () => {
    const state = { database: true };
    const database: HealthCheck = () =>
      state.database ? Promise.resolve() : Promise.reject(new Error('secret reason'));
    const hanging: HealthCheck = () => new Promise(() => undefined);
    const lifecycle = createLifecycle(silentLog);
    const server = await startEcho({ endpoints: healthEndpoints({ database }, lifecycle) });
    const stuck = await startEcho({ endpoints: healthEndpoints({ database, queue: hanging }) });
    const ready = (url: string) => send(url, { method: 'GET', path: '/health/ready' });
    const up = await ready(server.url);
    const late = await ready(stuck.url);
    state.database = false;
    const down = await ready(server.url);
    state.database = true;
    lifecycle.beginStop();
    const stopping = await ready(server.url);
    const live = await send(server.url, { method: 'GET', path: '/health/live' });
    await Promise.all([server.close(), stuck.close()]);
    expect([up.status, up.text]).toEqual([200, '{"status":"ready","checks":{"database":"up"}}']);
    expect([late.status, late.text]).toEqual([503, '{"status":"not_ready","checks":{"database":"up","queue":"down"}}']);
    expect([down.status, down.text]).toEqual([503, '{"status":"not_ready","checks":{"database":"down"}}']);
    expect([stopping.status, stopping.text]).toEqual([503, '{"status":"stopping","checks":{}}']);
    expect(live.status).toBe(200);
  });
});

describe('metrics', () => {
  it('count answers by operation and status', async () => {
    const telemetry = await openTelemetry(null, { service: 'echo', version: '1' });
    const server = await startEcho({ endpoints: echoEndpoints, telemetry });
    await send(server.url, { headers: asAdmin, body: '{"text":"a"}' });
    await send(server.url, { headers: asAdmin, body: '{"text":1}' });
    await server.close();
    const text = await telemetry.prometheus();
    await telemetry.close();
    expect(text).toContain('_count{operation="echo",status="200"} 1');
    expect(text).toContain('_bucket{operation="echo",status="400",le="+Inf"} 1');
  });
});
