import { z } from 'zod';
import type { ApiKeyScope } from './api-key-terms.ts';
import type { AssertionRole } from './assertion.ts';
import type { ErrorCode } from './error-codes.ts';
import type { RepeatedMethod } from './idempotency.ts';
import type { PersonRole } from './person-assertion.ts';
import type { Right } from './rights.ts';

/**
 * The group of routes that accept a key of an agent. `authzen` decides no calls: another application queries
 * permissions with it.
 */
export const Door = z.enum(['evaluate', 'chat', 'mcp', 'authzen']);
export type Door = z.infer<typeof Door>;

/** The doors of keys that name no doors, and of tokens that agents sign. */
export const agentDoors: readonly Door[] = ['evaluate', 'chat', 'mcp'];

export type Method = RepeatedMethod['method'];

/**
 * The callers of a route. Kernel: public, tenant_scoped, admin, service_internal. Gateway: public, session (only
 * sessions of people), member, partner, owner (least role in the addressed workspace), service_internal. `agent` is an
 * external caller with a workspace key or a credential of the kernel. Control plane: public, session (a person whom the
 * gateway asserts), service_internal. Commercial gateway: public, session, service_internal. `commercial` is a person,
 * or an API key of the gateway with a scope of the route. `commercial_admin` is a person who administers the
 * installation. `scim` is an identity provider with a token of one organisation.
 */
export type AuthClass =
  | 'public'
  | 'tenant_scoped'
  | 'admin'
  | 'service_internal'
  | 'session'
  | 'member'
  | 'partner'
  | 'owner'
  | 'agent'
  | 'commercial'
  | 'commercial_admin'
  | 'scim';

/**
 * The format of a body and an answer. Only `json` answers are checked against `reply`. `html`: a page for people with a
 * form (application/x-www-form-urlencoded); its errors are pages. `script`: a script of such a page. `file`: bytes of
 * any type. `report`: JSON or, on request, OSCAL or a printable page. `socket`: a WebSocket with messages of the type
 * `reply`. `openai`: JSON or, on request, an event
 * stream. `ag-ui`: a stream of its events. `authzen`: JSON, with errors as text. `oauth`: a form or JSON, with the
 * errors of RFC 6749 §5.2. `scim`: application/scim+json or application/json, with the errors of RFC 7644 §3.12. All
 * other errors are JSON.
 */
export type Media =
  | 'json'
  | 'json-lines'
  | 'html'
  | 'script'
  | 'file'
  | 'report'
  | 'event-stream'
  | 'socket'
  | 'openai'
  | 'ag-ui'
  | 'mcp'
  | 'authzen'
  | 'oauth'
  | 'scim';

export type Shape<T> = z.ZodType<T>;

/** How the gateway serves a route of another service. */
export type Forward = {
  /** Routes of the kernel: the callers at the gateway, in place of the route's own class. */
  opensTo?: 'agent' | PersonRole;
  /** Routes of the kernel that open to a role: the right that the caller needs in the workspace. */
  right?: Right;
  /** Routes of the kernel: no API key opens the route. */
  sessionOnly?: true;
  /** Routes of the kernel: the person has proven their presence in the last five minutes. */
  needsPresence?: true;
  /** Requests wait until the kernel has confirmed the settings of the workspace. */
  needsSettings?: true;
  /**
   * The rate limit class of anonymous callers: sign-in, expensive work, events of other systems, or everything else.
   * Default `public`.
   */
  limit?: 'auth' | 'public' | 'verify' | 'webhook';
  /** Headers of the caller that the other service needs, besides those that every route forwards. Lower case. */
  passes?: readonly string[];
  /** The bearer token of the caller is a credential of the other service. The gateway forwards it unread. */
  passesBearer?: true;
  /**
   * The type of the answer, which determines its time limits: one body, a stream, or the work of a model or tool.
   * Default `short`.
   */
  answer?: 'short' | 'stream' | 'upstream';
};

export type RouteDefinition<Params, Query, Body, Reply> = RepeatedMethod & {
  operation: string;
  summary: string;
  path: string;
  auth: AuthClass;
  /** Set when the gateway also serves the route. Otherwise, the gateway answers 404. */
  forward?: Forward;
  /** The route decides with the decision cycle and all its gates. Routes without this mark decide nothing. */
  governed?: true;
  /** Agent keys of this door open the route. Other routes reject them. */
  door?: Door;
  /** Assertions of the gateway for these roles open the route. Other routes reject them. */
  assertedBy?: readonly AssertionRole[];
  /**
   * Set for a route of the control plane or of class `commercial` that concerns one addressed workspace. It is the
   * least role in that workspace.
   */
  leastRole?: PersonRole;
  /** Set for a route of one workspace: the right that callers need there. Without one, the route is closed. */
  right?: Right;
  /** Set for a `session` route: the only accepted proof. It is a token, a browser's session, or the refresh cookie. */
  provenBy?: 'session_token' | 'browser_session' | 'refresh_cookie';
  /**
   * The person must have proven their presence in the last five minutes (RFC 9470). This protects sessions that were
   * left open. API keys and programs cannot prove presence.
   */
  needsPresence?: true;
  /**
   * Set for a public route of the control plane that receives the browser's cookies, which show where a sign-in began.
   */
  takesCookies?: true;
  /**
   * Only a signed-in person can call the route. Exceptions are API keys with `keyScopes` and programs with
   * `opensToPrograms`.
   */
  sessionOnly?: true;
  /**
   * API keys with one of these scopes open the route, within their role. Without this mark, no key opens a route of the
   * control plane or of the commercial gateway. Routes of the gateway without this mark need the scope `read`, `write`
   * or `agent`.
   */
  keyScopes?: readonly ApiKeyScope[];
  /**
   * Programs that a person has confirmed can call the route. Without this mark, they can call only reading routes that
   * are not `sessionOnly`. Routes that decide or admit people never have it, so that an agent at the same terminal
   * cannot vote.
   */
  opensToPrograms?: true;
  /** The operation of another service that this route calls as its caller. Both have the same gates. */
  secondDoorOf?: string;
  /** Further operations of other services that this route calls as its caller. */
  alsoCalls?: readonly string[];
  params?: Shape<Params>;
  query?: Shape<Query>;
  body?: Shape<Body>;
  reply: Shape<Reply>;
  /** Status of a successful answer; default 200. */
  status?: number;
  /** Further statuses that answer with `reply` (a refusal that carries the decision, a readiness failure). */
  alsoStatus?: number[];
  media?: Media;
  bodyBytesMax?: number;
  /** The most JSON values in a body. Default ten thousand. */
  bodyValuesMax?: number;
  errors?: ErrorCode[];
};

export type Route<Params, Query, Body, Reply> = RouteDefinition<Params, Query, Body, Reply> & {
  status: number;
  media: Media;
  bodyBytesMax: number;
  bodyValuesMax: number;
};

/** A route of any types, for lists of routes. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list of routes forgets their four types on purpose
export type AnyRoute = Route<any, any, any, any>;

/** One MiB. Enough for the arguments of a tool call, and small enough that parsing cannot block the process. */
const bodyBytesMaxDefault = 1_048_576;
/** Enough for a conversation of thousands of messages. Few enough that parsing takes only some milliseconds. */
const bodyValuesMaxDefault = 10_000;

/**
 * Describes one operation. The server parses with it, the client takes its types from it, and OpenAPI is generated from
 * it. Generic over plain types rather than over zod types, so that handlers are checked against `Reply` exactly.
 */
export function defineRoute<
  Params = Record<never, never>,
  Query = Record<never, never>,
  Body = undefined,
  Reply = unknown,
>(definition: RouteDefinition<Params, Query, Body, Reply>): Route<Params, Query, Body, Reply> {
  return {
    ...definition,
    status: definition.status ?? 200,
    media: definition.media ?? 'json',
    bodyBytesMax: definition.bodyBytesMax ?? bodyBytesMaxDefault,
    bodyValuesMax: definition.bodyValuesMax ?? bodyValuesMaxDefault,
  };
}

/** The names in braces of a path, in order. */
export function pathParams(path: string): string[] {
  return [...path.matchAll(/\{([a-z_A-Z]+)\}/g)].map((match) => match[1] ?? '');
}

/** The path parameter with the id of the workspace, which is the first parameter. Undefined when the path has none. */
export function workspaceParamOf({ path }: Pick<AnyRoute, 'path'>): string | undefined {
  return /^\/api\/(?:v1\/)?workspaces?\/\{([a-z_]+)\}/.exec(path)?.[1];
}
