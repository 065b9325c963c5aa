import { z } from 'zod';
import { ScimError } from '../commercial-gateway/scim.ts';
import { OAuthError } from '../control-plane/device.ts';
import { errorCodes, type ErrorCode } from '../error-codes.ts';
import { ErrorEnvelope } from '../errors.ts';
import { idempotencyExemptions } from '../idempotency.ts';
import { pathParams, type AnyRoute, type AuthClass, type Media } from '../route.ts';
import type { PlainJson } from '../scalars.ts';
import { createComponents, type Components, type JsonSchema } from './components.ts';
import { descriptionOf, withDescriptions } from './member-descriptions.ts';

type DocumentOptions = {
  title: string;
  description: string;
  version: string;
  serverUrl: string;
  routes: AnyRoute[];
  /** Modules whose exported zod types become the named schemas. */
  modules: Record<string, unknown>[];
};

/** The public OpenAPI 3.1.1 description of one service: the same routes that its server parses by. */
export function openApiDocument(options: DocumentOptions): JsonSchema {
  const components = createComponents(options.modules, '#/components/schemas/');
  const paths = pathsOf(options.routes, components);
  return {
    openapi: '3.1.1',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.serverUrl }],
    paths,
    components: { securitySchemes: securitySchemes(options.routes), schemas: components.named() },
  };
}

function pathsOf(routes: AnyRoute[], components: Components): JsonSchema {
  const paths: Record<string, JsonSchema> = {};
  for (const route of [...routes].sort(byPath)) {
    const operation = operationOf(route, components);
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  return paths;
}

function byPath(a: AnyRoute, b: AnyRoute): number {
  return `${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1;
}

function operationOf(route: AnyRoute, components: Components): JsonSchema {
  const body = route.body as z.ZodType | undefined; // AnyRoute forgets the member types
  return {
    operationId: route.operation,
    summary: route.summary,
    'x-countersign-auth': route.auth,
    ...(route.governed ? { 'x-countersign-governed': true } : {}),
    ...(route.assertedBy === undefined || route.auth === 'agent'
      ? {}
      : { 'x-countersign-asserted-by': [...route.assertedBy] }),
    ...exemptionOf(route),
    security: securityOf(route),
    parameters: parametersOf(route, components),
    ...(body ? { requestBody: bodyOf(route, body, components) } : {}),
    responses: responsesOf(route, components),
  };
}

function bodyOf({ media, operation }: AnyRoute, body: z.ZodType, components: Components): JsonSchema {
  const schema = withDescriptions(components.schemaOf(body, 'input'), `${operation}.body`);
  const content = Object.fromEntries(bodyTypesOf(media).map((type) => [type, { schema }]));
  return { required: !body.safeParse(undefined).success, content };
}

function bodyTypesOf(media: Media): string[] {
  const form = media === 'html' || media === 'oauth' ? ['application/x-www-form-urlencoded'] : [];
  const scim = media === 'scim' ? [scimType] : [];
  return media === 'html' ? form : [...form, ...scim, 'application/json'];
}

const security: Record<AuthClass, PlainJson> = {
  public: [],
  tenant_scoped: [{ adminKey: [] }],
  admin: [{ adminKey: [] }],
  service_internal: [{ serviceKey: [] }],
  session: [{ sessionToken: [] }],
  member: [{ sessionToken: [] }, { apiKey: [] }],
  partner: [{ sessionToken: [] }, { apiKey: [] }],
  owner: [{ sessionToken: [] }],
  agent: [{ apiKey: [] }, { agentKey: [] }],
  commercial: [{ sessionToken: [] }],
  commercial_admin: [{ sessionToken: [] }],
  scim: [{ scimToken: [] }],
};

const schemes: Record<string, JsonSchema> = {
  adminKey: { type: 'http', scheme: 'bearer', description: 'The value of GOV_ADMIN_API_KEY.' },
  agentKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access key of an agent (agk_…), issued for one tenant and principal.',
  },
  assertion: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'An assertion of the gateway (EdDSA, valid for at most 60 s) with tenant, principal and role. A key of GOV_ASSERTION_KEYS signs it.',
  },
  serviceKey: { type: 'http', scheme: 'bearer', description: 'The value of GOV_SERVICE_API_KEY.' },
  sessionToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A session token. Responses return a renewed token in X-New-Token.',
  },
  scimToken: { type: 'http', scheme: 'bearer', description: 'A SCIM token of an organisation (cst_…).' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key of a workspace (hp_…).' },
};

/** Agents can call only routes with a door. The gateway can call only routes that name its assertions. */
function securityOf({ auth, door, assertedBy, sessionOnly, keyScopes }: AnyRoute): PlainJson {
  // The kernel has no sessions. On its routes, the scopes apply at the gateway.
  if (keyScopes !== undefined && auth !== 'tenant_scoped') return security.member;
  if (sessionOnly === true) return security.session;
  if (auth !== 'tenant_scoped') return security[auth];
  return [
    { adminKey: [] },
    ...(door === undefined ? [] : [{ agentKey: [] }]),
    ...(assertedBy === undefined ? [] : [{ assertion: [] }]),
  ];
}

function securitySchemes(routes: AnyRoute[]): JsonSchema {
  const used = JSON.stringify(routes.map(securityOf));
  return Object.fromEntries(Object.entries(schemes).filter(([name]) => used.includes(`"${name}"`)));
}

function parametersOf(route: AnyRoute, components: Components): PlainJson {
  const described = (place: 'params' | 'query', name: string) => descriptionOf(`${route.operation}.${place}.${name}`);
  return [
    ...pathParams(route.path).map((name) => ({
      ...parameter('path', name, memberOf(route.params, name, components), true),
      ...described('params', name),
    })),
    ...members(route.query, components).map(({ name, schema }) => ({
      ...parameter('query', name, schema, false),
      ...described('query', name),
    })),
    ...headersOf(route),
  ];
}

type Member = { name: string; schema: JsonSchema };

/** Describes parameters individually, so that a named shape of parameters does not become a component. */
function members(shape: AnyRoute['query'], components: Components): Member[] {
  if (shape === undefined) return [];
  if (!(shape instanceof z.ZodObject))
    throw new TypeError('Declare parameters as a z.object with one member per parameter');
  return Object.entries(shape.shape).map(([name, type]) => ({
    name,
    schema: components.schemaOf(type as z.ZodType, 'input'), // the members of a zod object are zod types
  }));
}

function memberOf(shape: AnyRoute['params'], name: string, components: Components): JsonSchema {
  const found = members(shape, components).find((member) => member.name === name);
  if (found === undefined) throw new TypeError(`The path parameter ${name} has no type`);
  return found.schema;
}

function parameter(
  place: 'path' | 'query' | 'header',
  name: string,
  schema: JsonSchema,
  required: boolean,
): JsonSchema {
  return { in: place, name, required, schema };
}

const text: JsonSchema = { type: 'string' };

function takesKey({ idempotency }: AnyRoute): boolean {
  return idempotency === 'key';
}

/** The reason why a route that may change state accepts no Idempotency-Key. */
function exemptionOf({ idempotency }: AnyRoute): JsonSchema {
  if (idempotency === undefined || idempotency === 'key') return {};
  const { exempt } = idempotency;
  return { 'x-countersign-idempotency': { exempt, reason: idempotencyExemptions[exempt] } };
}

function headersOf(route: AnyRoute): JsonSchema[] {
  const tenant = [
    parameter('header', 'X-Gov-Tenant-ID', text, false),
    parameter('header', 'X-Gov-Principal-ID', text, false),
  ];
  return [
    ...(route.auth === 'tenant_scoped' ? tenant : []),
    ...(takesKey(route)
      ? [parameter('header', 'Idempotency-Key', { type: 'string', minLength: 1, maxLength: 255 }, false)]
      : []),
  ];
}

const jsonType = 'application/json';
const scimType = 'application/scim+json';

const mediaTypes: Record<Media, string[]> = {
  json: ['application/json'],
  'json-lines': ['application/x-ndjson'],
  html: ['text/html'],
  script: ['text/javascript'],
  file: ['text/javascript', 'text/css'],
  report: ['application/json', 'application/oscal+json', 'text/html'],
  'event-stream': ['text/event-stream'],
  'ag-ui': ['text/event-stream'],
  // The content type of each message.
  socket: ['application/json'],
  openai: ['application/json', 'text/event-stream'],
  mcp: ['application/json', 'text/event-stream'],
  authzen: ['application/json'],
  oauth: ['application/json'],
  scim: [scimType],
};

function responsesOf(route: AnyRoute, components: Components): JsonSchema {
  const type = route.reply as z.ZodType; // AnyRoute forgets the member types
  const reply = isEmpty(route.status)
    ? {}
    : withDescriptions(components.schemaOf(type, 'output'), `${route.operation}.reply`);
  const answer = { description: route.summary, ...replayHeaderOf(route), content: contentOf(route.media, reply) };
  const errors = errorResponses(route, components);
  const answers = [route.status, ...(route.alsoStatus ?? [])].map((status) => {
    const error = errors[status];
    if (isEmpty(status)) return [String(status), { description: route.summary }] as const;
    return [String(status), error === undefined ? answer : either(answer, error)] as const;
  });
  return {
    ...errors,
    ...Object.fromEntries(answers),
    default: errorResponse('Any other failure, in the same envelope.', route, components),
  };
}

/** Statuses whose answers have no content (RFC 9110 §15.3.5, §15.4.5). */
function isEmpty(status: number): boolean {
  return status === 204 || status === 304;
}

type Response = { description: string; headers?: JsonSchema; content: Record<string, { schema: JsonSchema }> };

function replayHeaderOf(route: AnyRoute): Pick<Response, 'headers'> {
  if (!takesKey(route)) return {};
  const description =
    'Present when the answer is a copy of the answer to an earlier request with this Idempotency-Key.';
  return { headers: { 'Idempotency-Replayed': { description, schema: { type: 'string', const: 'true' } } } };
}

/** The response of a status that is used for replies and for errors. */
function either(answer: Response, error: Response): Response {
  const [reply, envelope] = [answer, error].map(({ content }) => content['application/json']?.schema);
  if (reply === undefined || envelope === undefined)
    throw new TypeError(`${answer.description} One status answers with two kinds of content`);
  const schema = { anyOf: [reply, envelope] };
  const description = `${answer.description} Or an error: ${error.description}`;
  return { ...answer, description, content: { ...answer.content, 'application/json': { schema } } };
}

function contentOf(media: Media, reply: JsonSchema): Response['content'] {
  return Object.fromEntries(
    mediaTypes[media].map((type) => [type, { schema: [jsonType, scimType].includes(type) ? reply : text }]),
  );
}

/** The error codes that follow from the properties of a route. The definition of the route does not list them. */
function impliedErrors(route: AnyRoute): ErrorCode[] {
  return [
    ...(['INVALID_REQUEST', 'UNKNOWN_MEMBER', 'RATE_LIMITED', 'STORE_UNAVAILABLE'] as const),
    ...(route.media === 'mcp' ? (['METHOD_NOT_ALLOWED'] as const) : []),
    ...(takesKey(route) ? (['IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED'] as const) : []),
    ...(route.governed === true ? (['RECEIPT_STORE_UNAVAILABLE'] as const) : []),
    ...(route.body !== undefined ? bodyErrors(route.media) : []),
    ...(route.auth !== 'public' ? (['CREDENTIALS_REQUIRED', 'CREDENTIALS_INVALID', 'PERMISSION_DENIED'] as const) : []),
    ...(route.auth === 'tenant_scoped' ? (['TENANT_REQUIRED'] as const) : []),
    ...(route.needsPresence === true ? (['REAUTHENTICATION_REQUIRED'] as const) : []),
    ...(route.leastRole === undefined ? [] : (['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'] as const)),
  ];
}

function bodyErrors(media: Media): ErrorCode[] {
  const malformed = media === 'html' ? 'DUPLICATE_MEMBER' : 'MALFORMED_JSON';
  // AuthZEN routes treat a body of another media type as malformed.
  return [malformed, 'PAYLOAD_TOO_LARGE', ...(media === 'authzen' ? [] : (['UNSUPPORTED_MEDIA_TYPE'] as const))];
}

function errorResponses(route: AnyRoute, components: Components): Record<string, Response> {
  const codes = [...new Set([...impliedErrors(route), ...(route.errors ?? [])])];
  const statuses = [...new Set(codes.map((code) => errorCodes[code].status))].sort((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      const named = codes.filter((code) => errorCodes[code].status === status);
      return [String(status), errorResponse(named.join(', '), route, components)];
    }),
  );
}

function errorResponse(description: string, { media }: AnyRoute, components: Components): Response {
  if (media === 'html') return { description, content: contentOf(media, text) };
  if (media === 'authzen') return { description, content: json(text) };
  const envelope = withDescriptions(components.schemaOf(envelopeOf(media), 'output'), 'error');
  return { description, content: media === 'scim' ? contentOf(media, envelope) : json(envelope) };
}

function envelopeOf(media: Media): z.ZodType {
  if (media === 'oauth') return OAuthError;
  if (media === 'scim') return ScimError;
  return media === 'mcp' ? JsonRpcError : ErrorEnvelope;
}

/** Errors of MCP routes are JSON-RPC errors with our code in `data`. */
const JsonRpcError = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int(), z.null()]),
  error: z.strictObject({ code: z.int(), message: z.string(), data: z.looseObject({ code: z.string() }).optional() }),
});

function json(schema: JsonSchema): Response['content'] {
  return { 'application/json': { schema } };
}
