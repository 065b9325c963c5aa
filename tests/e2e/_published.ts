import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { urlOf, type AnyRoute } from '@countersign/contracts';
import { openApiText, type ServiceName } from '@countersign/contracts/openapi';
import { until, untilAnswered } from '@countersign/testkit/until';
import { PageSocket } from './_socket.ts';

export type Probe = {
  params?: Record<string, string>;
  query?: Record<string, string | number>;
  body?: unknown;
  headers?: Record<string, string>;
};
export type Answered = { status: number; headers: Headers; body: unknown };

/** Calls a running service, and validates each answer against the OpenAPI document instead of our own types. */
export type Published = {
  /** Throws when the document does not describe the answer. Records the operation if the answer is successful. */
  ask(route: AnyRoute, probe?: Probe): Promise<Answered>;
  readonly answered: ReadonlySet<string>;
  /**
   * Operations that replayed their answer for the same Idempotency-Key. `ask` throws where such a route does not
   * replay.
   */
  readonly replayed: ReadonlySet<string>;
};

type Operation = { responses: Record<string, { content: Record<string, unknown> }> };
type OpenApi = { paths: Record<string, Record<string, Operation>> };

type Document = { document: OpenApi; validatorAt(pointer: string): ValidateFunction };

/** Parsed documents. A document has tens of thousands of lines, and several tests validate against the same one. */
const documents = new Map<ServiceName, Document>();

function documentOf(name: ServiceName): Document {
  const existing = documents.get(name) ?? readDocument(name);
  documents.set(name, existing);
  return existing;
}

function readDocument(name: ServiceName): Document {
  const document = JSON.parse(openApiText(name)) as OpenApi; // our documents have this type
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  const validators = new Map<string, ValidateFunction>();
  const validatorAt = (pointer: string) => {
    const existing = validators.get(pointer) ?? ajv.compile({ $ref: `api#${pointer}` });
    validators.set(pointer, existing);
    return existing;
  };
  return { document, validatorAt };
}

export function publishedService(name: ServiceName, baseUrl: string): Published {
  const { document, validatorAt } = documentOf(name);
  const answered = new Set<string>();
  const replayed = new Set<string>();
  return {
    answered,
    replayed,
    ask: async (route, request = {}) => {
      const probe = takesKey(route, request) ? withKey(request) : request;
      const response = opensSocket(route, probe)
        ? await firstMessage(route, baseUrl, probe)
        : await send(route, baseUrl, probe);
      const mediaType = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
      const pointer = responsePointer(document, route, { status: response.status, mediaType });
      const body = mediaType === 'application/json' ? await response.json() : await response.body?.cancel();
      if (mediaType === 'application/json') assertValid(validatorAt(pointer), body, route);
      if (response.status < 300) answered.add(route.operation);
      if (response.status < 300 && probe !== request) {
        await requireReplay(route, await send(route, baseUrl, probe), { status: response.status, body });
        replayed.add(route.operation);
      }
      return { status: response.status, headers: response.headers, body };
    },
  };
}

/** Asks until the service is ready. A check that takes longer than a second on a loaded machine answers 503. */
export async function untilReady(published: Published, readiness: AnyRoute): Promise<void> {
  await until(async () => (await published.ask(readiness)).status === 200);
}

async function send(route: AnyRoute, baseUrl: string, { params, query, body, headers }: Probe): Promise<Response> {
  const hasBody = body !== undefined;
  return await fetch(urlOf(route, baseUrl, { params, query }), {
    method: route.method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
}

/** A streamed answer cannot be replayed, so its request has no key. */
function takesKey({ idempotency }: AnyRoute, { body }: Probe): boolean {
  const isStream = typeof body === 'object' && body !== null && 'stream' in body && body.stream === true;
  return idempotency === 'key' && !isStream;
}

function withKey(probe: Probe): Probe {
  return { ...probe, headers: { ...probe.headers, 'idempotency-key': randomUUID() } };
}

async function requireReplay(
  { method, path }: AnyRoute,
  response: Response,
  first: { status: number; body: unknown },
): Promise<void> {
  const second = { status: response.status, body: await response.json() };
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  if (isReplay && isDeepStrictEqual(second, first)) return;
  const texts = [first, second].map((answer) => JSON.stringify(answer)).join('\n');
  throw new Error(`${method} ${path} did not replay its answer for the same Idempotency-Key\n${texts}`);
}

/** A request without a ticket is an ordinary HTTP request, and the route rejects it. */
function opensSocket({ media }: AnyRoute, { headers = {} }: Probe): boolean {
  return media === 'socket' && 'sec-websocket-protocol' in headers;
}

/** The first message of a socket, as the answer of its route. */
async function firstMessage(route: AnyRoute, baseUrl: string, { headers = {} }: Probe) {
  const { 'sec-websocket-protocol': protocols = '', ...sent } = headers;
  const socket = await PageSocket.open(baseUrl, { path: route.path, protocols: protocols.split(', '), headers: sent });
  const message = await untilAnswered(async () => socket.messages[0]);
  socket.end();
  const type = { 'content-type': 'application/json' };
  return { status: route.status, headers: new Headers(type), json: async () => message, body: null };
}

type Seen = { status: number; mediaType: string };

/**
 * JSON pointer to the schema of this answer. The document must list its status. `default` covers only faults of the
 * server.
 */
function responsePointer(document: OpenApi, route: AnyRoute, { status, mediaType }: Seen): string {
  const operation = document.paths[route.path]?.[route.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${route.method} ${route.path} is not published`);
  const isNamed = operation.responses[status] !== undefined;
  if (!isNamed && status < 500)
    throw new Error(`${route.method} ${route.path} answered ${status}, which is not published`);
  const key = isNamed ? String(status) : 'default';
  if (operation.responses[key]?.content[mediaType] === undefined)
    throw new Error(`${route.method} ${route.path} answered ${mediaType} with ${status}, which is not published`);
  const segments = ['paths', route.path, route.method.toLowerCase(), 'responses', key, 'content', mediaType, 'schema'];
  return segments
    .map((segment) => `/${encodeURIComponent(segment.replaceAll('~', '~0').replaceAll('/', '~1'))}`)
    .join('');
}

function assertValid(validate: ValidateFunction, body: unknown, { method, path }: AnyRoute): void {
  if (validate(body)) return;
  throw new Error(`${method} ${path} is not as published: ${JSON.stringify(validate.errors)}\n${JSON.stringify(body)}`);
}
