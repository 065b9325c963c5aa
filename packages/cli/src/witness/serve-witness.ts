import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { clientAddress, createRateLimiter, type RateLimiter } from '@countersign/service-kit/client-limits';
import type { Witness, WitnessAnswer } from './witness.ts';

/** Enough for 63 hashes (2,835 bytes) and a note with 100 signatures (20,000 bytes). */
const bodyBytesMax = 65_536;
/** Time limit of a request, which stops slow clients from occupying connections. A submission is one small packet. */
const requestMs = 10_000;
const connectionsMax = 256;
const headerBytesMax = 8_192;
const limitClass = 'witness';
/** The number of clients whose requests are counted. Above it, the client that was idle longest is forgotten. */
const clientsMax = 10_000;

/**
 * `limit`: the requests per client and minute. `trustedProxies`: the number of proxies whose `X-Forwarded-For` names the
 * client.
 */
export type WitnessLimits = { limit: number; trustedProxies: number };

type ServeOptions = WitnessLimits & { host: string; port: number; onError(error: unknown): void };

export type ServedWitness = { url: string; close(): Promise<void> };

/** The HTTP interface of a witness: `POST /add-checkpoint`, and `GET /<origin hash>/checkpoint` for monitors. */
export async function serveWitness(witness: Witness, options: ServeOptions): Promise<ServedWitness> {
  const { host, port, onError } = options;
  const limits = { requestTimeout: requestMs, headersTimeout: requestMs, keepAliveTimeout: requestMs };
  const take = limiterOf(options);
  const server = createServer({ ...limits, maxHeaderSize: headerBytesMax }, (req, res) => {
    answerWithin(take, { witness, req, res }).catch((error: unknown) => {
      if (!req.complete) return void res.destroy(); // the client has disconnected
      onError(error);
      if (res.headersSent) res.destroy();
      else send(res, 500, 'the witness failed\n');
    });
  });
  server.maxConnections = connectionsMax;
  server.listen(port, host);
  await once(server, 'listening');
  return { url: urlOf(server), close: () => closed(server, witness) };
}

type Take = (req: IncomingMessage) => ReturnType<RateLimiter['take']>;
type Exchange = { witness: Witness; req: IncomingMessage; res: ServerResponse };

function limiterOf({ limit, trustedProxies }: WitnessLimits): Take {
  const classes = { [limitClass]: { limit, windowMs: 60_000 } };
  const limiter = createRateLimiter({ classes, keysMax: clientsMax });
  return (req) => limiter.take(clientAddress(req, trustedProxies), limitClass);
}

/** The limit applies before the body is read, since the verification of a body is the expensive part. */
async function answerWithin(take: Take, { witness, req, res }: Exchange): Promise<void> {
  const { allowed, headers } = await take(req);
  if (allowed) return await answer(witness, req, res);
  send(res, 429, 'too many requests from this client\n', { ...headers, connection: 'close' });
}

async function answer(witness: Witness, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = req.url ?? '';
  const [, hash] = /^\/([0-9a-f]{64})\/checkpoint$/.exec(path) ?? [];
  if (hash !== undefined) return sendCheckpoint(witness, hash, req, res);
  if (path !== '/add-checkpoint') return send(res, 404, 'the only resource of this witness is add-checkpoint\n');
  if (req.method !== 'POST') return send(res, 405, 'add-checkpoint needs POST\n', { allow: 'POST' });
  const body = await bodyOf(req);
  if (body === 'too_large')
    return send(res, 413, `a body has at most ${bodyBytesMax} bytes\n`, { connection: 'close' });
  if (body === 'not_text') return send(res, 400, 'the body is not UTF-8\n');
  sendAnswer(res, await witness.submit(body.text));
}

function sendAnswer(res: ServerResponse, reply: WitnessAnswer): void {
  switch (reply.kind) {
    case 'cosigned':
      return send(res, 200, reply.line);
    case 'unavailable':
      return send(res, 503, `${reply.problem}\n`, { 'retry-after': '5' });
    case 'refused': {
      const { status, size, message } = reply.refusal;
      if (size === null) return send(res, status, `${message}\n`);
      return send(res, status, `${size}\n`, { 'content-type': 'text/x.tlog.size' });
    }
    default:
      return reply satisfies never;
  }
}

function sendCheckpoint(witness: Witness, hash: string, req: IncomingMessage, res: ServerResponse): void {
  if (req.method !== 'GET') return send(res, 405, 'a checkpoint needs GET\n', { allow: 'GET' });
  const origin = witness.origins.find((each) => createHash('sha256').update(each).digest('hex') === hash);
  const note = origin === undefined ? null : witness.find(origin);
  if (note === null) return send(res, 404, 'this witness cosigned no checkpoint of this log\n');
  send(res, 200, note);
}

function send(res: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  const type = { 'content-type': 'text/plain; charset=utf-8' };
  res.writeHead(status, { ...type, 'x-content-type-options': 'nosniff', ...headers }).end(text);
}

async function bodyOf(req: IncomingMessage): Promise<{ text: string } | 'too_large' | 'not_text'> {
  if (Number(req.headers['content-length'] ?? 0) > bodyBytesMax) return 'too_large';
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const received = req.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>; // no encoding is set
  for await (const chunk of received) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return 'too_large';
    chunks.push(chunk);
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)) };
  } catch {
    return 'not_text';
  }
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo; // the server listens on TCP
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

async function closed(server: Server, witness: Witness): Promise<void> {
  const ended = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  await witness.settled();
  server.closeAllConnections();
  await ended;
}
