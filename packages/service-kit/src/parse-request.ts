import type { IncomingMessage } from 'node:http';
import { AppError, type AnyRoute } from '@countersign/contracts';
import type { Exchange } from './exchange.ts';
import { idempotencyClaim } from './idempotency.ts';
import { parseFormBody } from './parse-form-body.ts';
import { parseJsonBody } from './parse-json-body.ts';
import { declaresForm, hasBody, readBody, requireForm, requireJson, requireScim } from './read-body.ts';
import { validate } from './validate.ts';

/** Fills params, query, body and the idempotency claim of the exchange. Throws errors that the caller can correct. */
export async function parseRequest(exchange: Exchange, route: AnyRoute): Promise<void> {
  if (route.params !== undefined) exchange.params = validate(route.params, exchange.rawParams);
  exchange.query = parseRouteQuery(exchange, route);
  const bytes = await bodyBytes(exchange, route);
  if (route.method === 'POST') exchange.idempotency = idempotencyClaim(exchange.req, bytes);
  exchange.rawBody = bytes;
  if (bytes !== null) exchange.received = parseBytes(exchange.req, route, bytes);
  exchange.body = shapedBody(route, exchange.received);
}

function parseRouteQuery(exchange: Exchange, route: AnyRoute): unknown {
  const url = exchange.req.url ?? '';
  if (!url.includes('?') && route.query === undefined) return {};
  const query = { ...exchange.rawQuery };
  for (const name of exchange.services.guardQuery) if (!knowsMember(route.query, name)) delete query[name];
  if (route.query !== undefined) return validate(route.query, query);
  const [unknown] = Object.keys(query);
  if (unknown !== undefined) throw unknownMember(unknown);
  return {};
}

function knowsMember(shape: unknown, name: string): boolean {
  if (typeof shape !== 'object' || shape === null || !('shape' in shape)) return false;
  return typeof shape.shape === 'object' && shape.shape !== null && name in shape.shape;
}

/**
 * Bodies of GET and DELETE have no meaning (RFC 9110 §9.3.1). Handlers of media other than JSON read the body
 * themselves, unless the route declares its shape.
 */
function takesBody(route: AnyRoute): boolean {
  return route.body !== undefined || (route.media === 'json' && (route.method === 'POST' || route.method === 'PUT'));
}

async function bodyBytes({ req }: Exchange, route: AnyRoute): Promise<Buffer | null> {
  if (!takesBody(route) || !hasBody(req)) return null;
  if (isForm(req, route)) requireForm(req);
  else if (route.media === 'scim') requireScim(req);
  else requireJson(req);
  const bytes = await readBody(req, route.bodyBytesMax);
  return bytes.length === 0 ? null : bytes;
}

function shapedBody(route: AnyRoute, value: unknown): unknown {
  if (route.body !== undefined) return validate(route.body, value);
  if (value === undefined) return undefined;
  const [unknown] = typeof value === 'object' && value !== null ? Object.keys(value) : ['body'];
  if (unknown !== undefined) throw unknownMember(unknown);
  return undefined;
}

function parseBytes(req: IncomingMessage, route: AnyRoute, bytes: Buffer): unknown {
  const { bodyBytesMax: bytesMax, bodyValuesMax: valuesMax } = route;
  if (!isForm(req, route)) return parseJsonBody(bytes, { bytesMax, valuesMax });
  const form = parseFormBody(bytes);
  return route.media === 'oauth' ? withoutEmpty(form) : form;
}

/** A parameter without a value counts as omitted (RFC 6749 §3.1, §3.2). */
function withoutEmpty(form: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''));
}

/** OAuth clients send forms (RFC 6749 appendix B), and ours send JSON. */
function isForm(req: IncomingMessage, { media }: AnyRoute): boolean {
  return media === 'html' || (media === 'oauth' && declaresForm(req));
}

function unknownMember(param: string): AppError {
  return new AppError('UNKNOWN_MEMBER', `Unknown member ${param}`, { param });
}
