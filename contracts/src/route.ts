import { z } from 'zod';
import type { ApiKeyScope } from './api-key-terms.ts';
import type { AssertionRole } from './assertion.ts';
import type { ErrorCode } from './error-codes.ts';
import type { RepeatedMethod } from './idempotency.ts';
import type { PersonRole } from './person-assertion.ts';
import type { Right } from './rights.ts';

/** Where a key of an agent opens. `authzen` decides nothing: by it another application asks who may do what. */
export const Door = z.enum(['evaluate', 'chat', 'mcp', 'authzen']);
export type Door = z.infer<typeof Door>;

/** Where an agent comes in: a key that names no doors opens these, and so does a token that an agent has signed. */
export const agentDoors: readonly Door[] = ['evaluate', 'chat', 'mcp'];

export type Method = RepeatedMethod['method'];

/**
 * Who may call. Kernel: public, tenant_scoped, admin, service_internal. Gateway: public, session (a person's session
 * only), member, partner, owner (least role in the addressed workspace), service_internal. `agent` is a caller from
 * outside, by a key of a workspace or a credential of the kernel's own. Control plane: public, session (a person whom
 * the gateway asserts), service_internal. Commercial gateway: public, session, service_internal. `commercial` is a
 * person, or an API key of the gateway with a scope of the route; `commercial_admin` is a person who administers the
 * installation. `scim` is an identity provider, by a token of one organisation.
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
 * `json` answers are checked against `reply`; the others state their media type and are checked by their own tests. `html` is a page
 * for people: its errors are pages too, and its body is a form (application/x-www-form-urlencoded). `script` is what such a page runs, `file` bytes of any
 * kind. `report` answers JSON or, on request, OSCAL or a page for print; its errors are JSON. `socket` becomes a WebSocket whose messages are `reply`; its errors are JSON. `authzen` answers JSON whose errors are a text. `ag-ui` is a stream of its events; its errors are JSON. `oauth` takes a form or JSON, and answers JSON whose errors are those of RFC 6749 §5.2.
 * `scim` takes and answers application/scim+json with the errors of RFC 7644 §3.12, and takes application/json too.
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
  /** Routes of the kernel: who may call at the gateway, in place of the route's own class. */
  opensTo?: 'agent' | PersonRole;
  /** Routes of the kernel that open to a role: the right that the caller needs in the workspace. */
  right?: Right;
  /** Routes of the kernel: no API key opens the route. */
  sessionOnly?: true;
  /** Routes of the kernel: the person has proven their presence in the last five minutes. */
  needsPresence?: true;
  /** Requests wait until the kernel has confirmed the settings of the workspace. */
  needsSettings?: true;
  /** The limit class of anonymous callers: sign-in, expensive work, events of other systems, or everything else. Default `public`. */
  limit?: 'auth' | 'public' | 'verify' | 'webhook';
  /** Headers of the caller that the other service needs, beside those that every route passes on. Lower case. */
  passes?: readonly string[];
  /** The bearer of the caller is a credential of the other service: it is forwarded, and the gateway does not read it. */
  passesBearer?: true;
  /** How long an answer may take: one body, a stream, or the work of a model or tool. Default `short`. */
  answer?: 'short' | 'stream' | 'upstream';
};

export type RouteDefinition<Params, Query, Body, Reply> = RepeatedMethod & {
  operation: string;
  summary: string;
  path: string;
  auth: AuthClass;
  /** The gateway serves the route too. Without it the gateway answers 404. */
  forward?: Forward;
  /** Takes the decision cycle: every gate holds here. A route without this mark decides nothing. */
  governed?: true;
  /** An agent's key that was made for this door opens the route. Every other route refuses it. */
  door?: Door;
  /** An assertion of the gateway for one of these roles opens the route. Every other route refuses it. */
  assertedBy?: readonly AssertionRole[];
  /**
   * Set when a route of the control plane or of class `commercial` is about one workspace, which the request addresses.
   * It is the least role there.
   */
  leastRole?: PersonRole;
  /** Set for a route of one workspace: the right that it needs there. Without one it is closed to everyone. */
  right?: Right;
  /**
   * Set for a `session` route: the only accepted proof. It is a token, a browser's session, or the cookie that is sent
   * only to renew it.
   */
  provenBy?: 'session_token' | 'browser_session' | 'refresh_cookie';
  /**
   * A session that was left open must not do this: its person has proven to be there in the last five minutes (RFC 9470). No API key and no
   * program proves that.
   */
  needsPresence?: true;
  /**
   * Set for a public route of the control plane that receives the browser's cookies, which show where a sign-in began.
   */
  takesCookies?: true;
  /** A person does this, signed in: no program opens the route, and no API key but those that `keyScopes` admits. */
  sessionOnly?: true;
  /**
   * An API key with one of these scopes opens the route, within its role. Without this mark, no key opens a route of the control plane or of
   * the commercial gateway, and routes of the gateway follow its own scopes.
   */
  keyScopes?: readonly ApiKeyScope[];
  /**
   * A program that a person has let in opens the route. Without this mark it opens what only reads and is not
   * `sessionOnly`. No route that decides anything, or admits a person, has it: an agent at the same terminal would make
   * itself a voter.
   */
  opensToPrograms?: true;
  /** The operation of another service that this route calls as its own caller. Both have the same gates. */
  secondDoorOf?: string;
  /** Further operations of other services that this route calls as its own caller. */
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
  /** How many values of JSON a body may have; default ten thousand. */
  bodyValuesMax?: number;
  errors?: ErrorCode[];
};

export type Route<Params, Query, Body, Reply> = RouteDefinition<Params, Query, Body, Reply> & {
  status: number;
  media: Media;
  bodyBytesMax: number;
  bodyValuesMax: number;
};

/** A route whose member types do not matter: for lists of routes. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list of routes forgets their four types on purpose
export type AnyRoute = Route<any, any, any, any>;

/** One MiB: ample for arguments of a tool call, small enough that parsing cannot stall the process. */
const bodyBytesMaxDefault = 1_048_576;
/** Thousands of messages of a conversation; so few that no body holds up the process for longer than some milliseconds. */
const bodyValuesMaxDefault = 10_000;

/**
 * Describes one operation: the server parses by it, the client is typed by it, OpenAPI is generated from it.
 * Generic over plain types rather than over zod types, so that handlers are checked against `Reply` exactly.
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

/** Names in braces of a path, in order. */
export function pathParams(path: string): string[] {
  return [...path.matchAll(/\{([a-z_A-Z]+)\}/g)].map((match) => match[1] ?? '');
}

/** The member of a path that is a workspace's id: a workspace stands first in the paths of what is its own. Undefined: the path names none. */
export function workspaceParamOf({ path }: Pick<AnyRoute, 'path'>): string | undefined {
  return /^\/api\/(?:v1\/)?workspaces?\/\{([a-z_]+)\}/.exec(path)?.[1];
}
