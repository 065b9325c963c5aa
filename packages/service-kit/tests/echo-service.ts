import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { AppError, defineRoute } from '@countersign/contracts';
import { z } from 'zod';
import {
  answer,
  anonymous,
  bearerToken,
  createHandle,
  createHttpApp,
  createLogger,
  handlePublic,
  prepared,
  secretsEqual,
  serveHttp,
  type Endpoint,
  type Guards,
  type HttpAppOptions,
  type IdempotencyStore,
  type ServeOptions,
  type StoredAnswer,
} from '../src/index.ts';

export const adminKey = 'an-admin-key-of-the-tests';

export const EchoBody = z.strictObject({
  text: z.string().max(100),
  n: z.number().optional(),
  nested: z.strictObject({ list: z.array(z.int()) }).optional(),
  free: z.record(z.string(), z.json()).optional(),
});

export const routes = {
  echo: defineRoute({
    operation: 'echo',
    summary: 'Answers what it is sent.',
    method: 'POST',
    path: '/echo',
    auth: 'admin',
    idempotency: 'key',
    query: z.strictObject({ loud: z.enum(['0', '1']).optional() }),
    body: EchoBody,
    reply: z.strictObject({ text: z.string(), caller: z.string() }),
    alsoStatus: [403],
    bodyBytesMax: 4_096,
  }),
  thing: defineRoute({
    operation: 'thing',
    summary: 'One thing.',
    method: 'GET',
    path: '/things/{thing_id}',
    auth: 'public',
    params: z.strictObject({ thing_id: z.string().max(20) }),
    reply: z.strictObject({ id: z.string() }),
  }),
  forget: defineRoute({
    operation: 'forget',
    summary: 'Forgets a thing.',
    method: 'POST',
    path: '/things/{thing_id}/forget',
    auth: 'admin',
    idempotency: 'key',
    params: z.strictObject({ thing_id: z.string() }),
    reply: z.undefined(),
    status: 204,
  }),
};

export type Caller = { name: string };

export const guards: Guards<Caller | undefined> = {
  public: anonymous,
  admin: ({ req }) => {
    if (!secretsEqual(bearerToken(req), adminKey)) throw new AppError('CREDENTIALS_INVALID', 'The key is not valid');
    return { name: 'ada' };
  },
};

export const handleAdmin = createHandle<Caller>('admin');

const echo = handleAdmin(routes.echo)(({ body, caller, setHeader }) => {
  setHeader('X-Echo', 'yes');
  if (body.text === 'crash') throw new Error('a secret detail');
  if (body.text === 'refuse') return answer(403, { text: 'refused', caller: caller.name }, { 'x-refused': '1' });
  if (body.text === 'prepared') return prepared(200, '{"text":"prepared","caller":"ada"}');
  if (body.text === 'missing') throw new AppError('NOT_FOUND', 'No such text', { param: 'text' });
  return { text: body.text, caller: caller.name };
});
const thing = handlePublic(routes.thing)(({ params }) => ({ id: params.thing_id }));
const forget = handleAdmin(routes.forget)(() => undefined);

export const echoEndpoints: readonly Endpoint[] = [echo, thing, forget];
export const silentLog = createLogger({ service: 'tests', silent: true });

/** A claimed key: the fingerprint of its request, and the answer once there is one. */
type Entry = { fingerprint: string; answer: StoredAnswer | null };

/** The smallest store that fulfils the contract of idempotency stores. */
export function memoryStore(): IdempotencyStore {
  const entries = new Map<string, Entry>();
  return {
    begin: (scope, key, fingerprint) => {
      const found = entries.get(`${scope} ${key}`);
      if (found === undefined) entries.set(`${scope} ${key}`, { fingerprint, answer: null });
      if (found === undefined) return Promise.resolve({ kind: 'run' });
      if (found.fingerprint !== fingerprint) return Promise.resolve({ kind: 'mismatch' });
      return Promise.resolve(found.answer === null ? { kind: 'in-flight' } : { kind: 'replay', answer: found.answer });
    },
    complete: (scope, key, answer) => {
      const found = entries.get(`${scope} ${key}`);
      if (found !== undefined) found.answer = answer;
      return Promise.resolve();
    },
    abandon: (scope, key) => Promise.resolve(void entries.delete(`${scope} ${key}`)),
  };
}

/** Longer than any test, so a test fails if its close waits until connections are cut. */
const noCutMs = 3_600_000;

export async function startEcho(
  options: Partial<HttpAppOptions<Caller | undefined>> = {},
  serve: Partial<ServeOptions> = {},
) {
  const defaults = { endpoints: echoEndpoints, guards, log: silentLog, checkReplies: true, idempotency: memoryStore() };
  const app = createHttpApp({ ...defaults, ...options });
  return serveHttp(app, { port: 0, graceMs: noCutMs, ...serve });
}

export type RawRequest = {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  chunked?: boolean;
};
export type RawAnswer = { status: number; headers: IncomingHttpHeaders; rawHeaders: string[]; text: string };

/** Sends a request unchanged. fetch would normalise the parts that these tests check. */
export function send(
  url: string,
  { method = 'POST', path = '/echo', headers = {}, body, chunked }: RawRequest,
): Promise<RawAnswer> {
  const target = new URL(url);
  const length = body === undefined || chunked === true ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return new Promise((resolve, reject) => {
    const req = httpRequest(
      { host: target.hostname, port: target.port, method, path, headers: { ...length, ...headers }, agent: false },
      (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('error', reject);
        res.on('end', () => {
          const { statusCode = 0, rawHeaders } = res;
          resolve({
            status: statusCode,
            headers: res.headers,
            rawHeaders,
            text: Buffer.concat(chunks).toString('utf8'),
          });
        });
      },
    );
    req.on('error', reject);
    if (chunked === true) req.setHeader('transfer-encoding', 'chunked');
    req.end(body);
  });
}

/** Sends raw bytes and returns the response, for requests that are not HTTP. */
export function sendBytes(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

export const asAdmin = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };
