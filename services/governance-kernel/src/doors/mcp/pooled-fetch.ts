import { Readable } from 'node:stream';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Dispatcher } from 'undici';
import { inTime } from '../../decision/in-time.ts';
import { sending } from './sending.ts';
import { messageValuesMax } from './bounded-messages.ts';
import { withFewValues } from './count-values.ts';
import { exactEvents } from './exact-answers.ts';
import { Excess } from './excess.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { NotReached, Unauthorized } from './not-reached.ts';

type Answer = Dispatcher.ResponseData;
type Reading = { bytesMax: number; reportOf: (message: string) => string };

const methods: Record<string, Dispatcher.HttpMethod> = { POST: 'POST', DELETE: 'DELETE' };

/**
 * The part of `fetch` that the SDK's transport needs, over pooled connections, at a fifth of the cost of `fetch`.
 * Redirects and content codings are refused, since they were not requested. A body above the limits of bytes or values
 * ends as an error. Each message is passed through `reportOf`.
 */
export function pooledFetch(agent: Dispatcher, { bytesMax, reportOf }: Reading): FetchLike {
  return async (url, init) => {
    const { origin, pathname, search } = new URL(url);
    const sent = sentAs(init?.body);
    const request = agent.request({
      origin,
      path: `${pathname}${search}`,
      method: methods[init?.method ?? 'GET'] ?? 'GET',
      headers: { 'user-agent': 'countersign', ...Object.fromEntries(new Headers(init?.headers)), ...sent.headers },
      body: sent.body,
      signal: init?.signal ?? null,
    });
    const answer = await request.catch((error: unknown) => {
      // If a caller gave up while the call waited for a connection, the server is not at fault.
      if (error instanceof NotSent || init?.signal?.aborted === true) throw error;
      throw isUnread(sent.body) ? new NotReached(unreachable, { cause: error }) : error;
    });
    // Without a listener, the abort error of an abandoned body would end the process.
    answer.body.on('error', () => undefined);
    if (sent.body instanceof Readable && refusals.has(answer.statusCode)) {
      answer.body.destroy();
      const problem = `The MCP server refused the request (HTTP ${answer.statusCode})`;
      throw answer.statusCode === 401 ? new Unauthorized(problem) : new NotReached(problem);
    }
    refuseUnasked(answer);
    return await responseOf(answer, { bytesMax, reportOf });
  };
}

function isUnread(body: string | Readable | null): boolean {
  return body instanceof Readable && !body.readableDidRead;
}

const unreachable = 'There is no connection to the MCP server';
/**
 * The statuses of a refused request: unauthorized, and an unknown or ended session (MCP 2025-06-18, Streamable HTTP,
 * Session Management).
 */
const refusals = new Set([401, 404]);

/** The body of a permitted call is read when a connection is available. */
function sentAs(body: unknown): { body: string | Readable | null; headers: Record<string, string> } {
  const permit = sending.getStore();
  if (typeof body !== 'string') return { body: null, headers: {} };
  if (permit === undefined) return { body, headers: {} };
  const bytes = Buffer.from(body);
  const { traceparent } = permit;
  const trace: Record<string, string> = traceparent === null ? {} : { traceparent };
  return { body: inTime(permit, bytes), headers: { 'content-length': String(bytes.byteLength), ...trace } };
}

function refuseUnasked({ statusCode, headers, body }: Answer): void {
  const isRedirect = statusCode >= 300 && statusCode < 400;
  if (!isRedirect && (headers['content-encoding'] ?? 'identity') === 'identity') return;
  body.destroy();
  throw new Error(isRedirect ? 'The MCP server redirects' : 'The MCP server answers in a content coding');
}

/** An event stream is forwarded as it arrives. All other bodies are one message. */
async function responseOf(
  { statusCode: status, headers, body }: Answer,
  { bytesMax, reportOf }: Reading,
): Promise<Response> {
  const init = { status, headers: pairs(headers) };
  const isStream = String(headers['content-type']).startsWith('text/event-stream');
  const chunks = withFewValues(bounded(body, bytesMax), {
    valuesMax: messageValuesMax,
    framing: isStream ? 'events' : 'whole',
  });
  if (!isStream) return messageOf(reportOf(await wholeText(chunks)), init);
  const events = Readable.from(exactEvents(chunks, reportOf));
  return new Response(Readable.toWeb(events) as ReadableStream, init); // Node's class implements the web's stream
}

/** A response with a complete text. A web stream for this text would cost more than the rest of the exchange. */
function messageOf(text: string, init: ResponseInit): Response {
  return Object.assign(new Response(null, init), {
    text: () => Promise.resolve(text),
    json: async () => JSON.parse(text) as unknown,
  });
}

async function wholeText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

async function* bounded(body: Readable, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    // no encoding is set on it, so its chunks are buffers
    bytes += chunk.byteLength;
    if (bytes > bytesMax) throw new Excess(`${bytesMax} bytes`);
    yield chunk;
  }
}

function pairs(headers: Answer['headers']): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value ?? '']).map((one): [string, string] => [name, one]),
  );
}
