import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { messageValuesMax } from '../src/doors/mcp/bounded-messages.ts';
import { NotReached } from '../src/doors/mcp/not-reached.ts';
import { pooledFetch } from '../src/doors/mcp/pooled-fetch.ts';
import { sending } from '../src/doors/mcp/sending.ts';

const bytesMax = 1_000;
const reportOf = (message: string) => message;
let agent: Agent;
let fetch: ReturnType<typeof pooledFetch>;
let server: Server;
let url: string;
let listener: RequestListener;
let connections = 0;
// Each test has its own server, because a connection may retry a request that was cut off.
beforeEach(async () => {
  agent = new Agent();
  fetch = pooledFetch(agent, { bytesMax, reportOf });
  server = createServer((req, res) => listener(req, res)).on('connection', () => (connections += 1));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/mcp?a=b`;
});
afterEach(async () => {
  await agent.destroy();
  server.closeAllConnections();
  server.close();
});

function answering(headers: Record<string, string>, body: string | Buffer, status = 200): void {
  listener = (_req, res) => res.writeHead(status, headers).end(body);
}

const json = { 'content-type': 'application/json' };

describe('calls to MCP servers over HTTP', () => {
  it('carry method, path, headers and body, and reuse their connection', async () => {
    const seen: unknown[] = [];
    listener = (req, res) => {
      const { 'x-own': own, 'user-agent': agentName, 'content-length': length } = req.headers;
      seen.push([req.method, req.url, own, agentName, length]);
      res.writeHead(200, json).end('{"a":1}');
    };
    connections = 0;
    for (let turn = 0; turn < 8; turn += 1) {
      const answer = await fetch(url, { method: 'POST', headers: { 'x-own': 'yes' }, body: '{}' });
      expect([answer.status, answer.headers.get('content-type'), await answer.json()]).toEqual([
        200,
        'application/json',
        { a: 1 },
      ]);
    }
    expect(seen).toEqual(Array(8).fill(['POST', '/mcp?a=b', 'yes', 'countersign', '2']));
    // A request opens a second connection if the first one is not yet back in the pool.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('count as not sent without a connection, but not when the caller has aborted', async () => {
    const gone = new URL(url);
    gone.port = '1';
    const permitted = (signal?: AbortSignal) =>
      sending.run({ mayStillSend: () => null, traceparent: null, elicitation: null, logs: null }, () =>
        fetch(gone, { method: 'POST', body: '{}', ...(signal === undefined ? {} : { signal }) }),
      );
    await expect(permitted()).rejects.toThrow(NotReached);
    const gaveUp = await permitted(AbortSignal.abort()).catch((error: unknown) => error);
    expect([gaveUp instanceof Error, gaveUp instanceof NotReached]).toEqual([true, false]);
  });

  it('do not follow redirects', async () => {
    answering({ location: 'http://127.0.0.1:1/' }, '', 307);
    await expect(fetch(url)).rejects.toThrow('redirects');
  });

  it('reject compressed answers', async () => {
    answering({ ...json, 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(1_000_000, 'x')));
    await expect(fetch(url)).rejects.toThrow('content coding');
  });

  it('fail when the answer exceeds the size limit', async () => {
    answering(json, 'x'.repeat(bytesMax + 1));
    await expect(fetch(url)).rejects.toThrow('more than 1000 bytes');
    answering(json, 'x'.repeat(bytesMax));
    expect((await (await fetch(url)).text()).length).toBe(bytesMax);
  });

  it('forward an event stream as it arrives, up to the size limit', async () => {
    let end: () => void = () => undefined;
    listener = (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: first\n\n');
      end = () => void res.end('x'.repeat(bytesMax));
    };
    const reader = (await fetch(url)).body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? '').toString()).toBe('data: first\n\n');
    end();
    await expect(reader?.read()).rejects.toThrow('more than 1000 bytes');
  });

  it('fail before an answer with too many values is parsed', async () => {
    const wide = pooledFetch(agent, { bytesMax: 4 * messageValuesMax, reportOf });
    const many = `[0${',0'.repeat(messageValuesMax + 1)}]`;
    answering(json, many);
    await expect(wide(url)).rejects.toThrow('values');
    answering({ 'content-type': 'text/event-stream' }, `data: ${many}\n\n`);
    await expect((await wide(url)).text()).rejects.toThrow('values');
  });

  it('end when they are aborted', async () => {
    listener = () => undefined;
    await expect(fetch(url, { signal: AbortSignal.timeout(20) })).rejects.toThrow('timeout');
  });

  it('may get an answer without content', async () => {
    answering({}, '', 202);
    expect([(await fetch(url)).status, await (await fetch(url)).text()]).toEqual([202, '']);
  });
});
