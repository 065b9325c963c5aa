import { STATUS_CODES } from 'node:http';
import { toldRequestHeaders, type ErrorEnvelope } from '@countersign/contracts';
import { corsHeaders } from './cors.ts';
import type { EndpointOptions } from './endpoint.ts';
import { errorAnswer } from './error-answer.ts';
import type { Exchange } from './exchange.ts';
import { failedCallOf } from './failed-call.ts';
import { errorPage, pagePolicy } from './page.ts';
import { RequestAborted } from './read-body.ts';
import { toldRequestOf } from './told-request/tell-request.ts';

/** Answers cannot be framed, sniffed, executed or cached. */
function headersUnder(policy: string, referrer = 'no-referrer'): string[] {
  return [
    ...['x-content-type-options', 'nosniff'],
    ...['content-security-policy', policy],
    ...['referrer-policy', referrer],
    ...['cache-control', 'no-store'],
  ];
}

const fixedHeaders: readonly string[] = headersUnder("default-src 'none'; frame-ancestors 'none'");
/**
 * Windows that opened a page, and sites that embed it, get no access to the page. Forms of a page send their origin to
 * this server only. Under `no-referrer`, browsers would hide the origin.
 */
const pageHeaders: readonly string[] = [
  ...['cross-origin-opener-policy', 'same-origin', 'cross-origin-resource-policy', 'same-origin'],
  ...headersUnder(pagePolicy(), 'same-origin'),
];

const jsonType = 'application/json; charset=utf-8';
const scimType = 'application/scim+json; charset=utf-8';
const pageType = 'text/html; charset=utf-8';
const scriptType = 'text/javascript; charset=utf-8';

/** Answers with text in one write, so head and body leave in one packet without further processing. */
export function sendText(exchange: Exchange, status: number, text: string): void {
  const { res } = exchange;
  const headers = commonHeaders(exchange);
  if (status === 204 || status === 304) {
    res.writeHead(status, headers);
    res.end();
  } else {
    headers.push(
      'content-type',
      contentType(exchange.media, status),
      'content-length',
      String(Buffer.byteLength(text)),
    );
    res.writeHead(status, headers);
    res.end(text);
  }
  observe(exchange, status);
}

function contentType(media: Exchange['media'], status: number): string {
  if (media === 'script' && status < 300) return scriptType;
  if (media === 'html') return pageType;
  return media === 'scim' ? scimType : jsonType;
}

/** Sets the headers of every answer on a response that the handler writes itself. */
export function presetHeaders(exchange: Exchange): void {
  const headers = commonHeaders(exchange);
  for (let index = 0; index < headers.length; index += 2) {
    exchange.res.setHeader(headers[index] ?? '', headers[index + 1] ?? '');
  }
  exchange.arePreset = true;
  exchange.res.once('close', () => observe(exchange, exchange.res.statusCode));
}

/**
 * Answers errors. Never throws. An answer that has begun cannot be corrected, so its connection is cut and the client
 * sees that it is incomplete.
 */
export function sendError(exchange: Exchange, error: unknown, rendering: Rendering = {}): void {
  const { res, log } = exchange;
  try {
    if (error instanceof RequestAborted || res.destroyed) log.debug('request.aborted', { error });
    else answerError(exchange, error, rendering);
  } catch (fault) {
    log.error('request.unanswerable', { error: fault });
    res.destroy();
  }
}

type Rendering = Pick<EndpointOptions, 'renderError' | 'errorStatuses'>;

function answerError(exchange: Exchange, error: unknown, { renderError, errorStatuses }: Rendering): void {
  const { res, req, requestId, services } = exchange;
  const { status, headers, envelope } = errorAnswer(error, requestId, services.classifiers);
  exchange.failure = envelope.error;
  if (status >= 500) {
    exchange.log.error('request.failed', { status, method: req.method, error_code: envelope.error.code, error });
  }
  if (res.headersSent) {
    res.destroy();
    return;
  }
  for (const [name, value] of Object.entries(headers)) exchange.setHeader(name, value);
  tellRequest(exchange, status);
  const text = exchange.media === 'html' ? errorPage(envelope) : JSON.stringify(renderError?.(envelope) ?? envelope);
  sendText(exchange, errorStatuses?.[status] ?? status, text);
}

/** Reports the request to the gateway that forwarded it without reading it, if that gateway asked for the report. */
function tellRequest(exchange: Exchange, status: number): void {
  const report = toldRequestOf(failedCallOf(exchange, status), exchange.services.tellCaller(exchange.principal));
  if (report !== null) exchange.setHeader(toldRequestHeaders.told, report);
}

/** For faults of HTTP itself, for which Node provides a bare socket and no request. */
export function rawErrorResponse(status: number, envelope: ErrorEnvelope): string {
  const text = JSON.stringify(envelope);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${envelope.error.request_id}`,
    ...pairs(fixedHeaders),
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}

function commonHeaders({ req, services, requestId, media, headers: own }: Exchange): string[] {
  const fixed = media === 'html' ? pageHeaders : fixedHeaders;
  const headers = without(fixed, own);
  headers.push('x-request-id', requestId);
  // Pages are only for their own origin.
  if (services.cors.origins.length > 0 && media !== 'html') headers.push(...corsHeaders(req, services.cors));
  if (own.length > 0) headers.push(...own);
  return headers;
}

/** Headers of the answer itself replace the common ones. */
function without(fixed: readonly string[], own: readonly string[]): string[] {
  return fixed.filter((_text, index) => !own.includes(fixed[index - (index % 2)] ?? ''));
}

function observe(exchange: Exchange, status: number): void {
  if (exchange.isObserved) return;
  exchange.isObserved = true;
  const { measure, log } = exchange.services;
  const elapsedMs = performance.now() - exchange.startedAtMs;
  measure?.(exchange.operation, status, elapsedMs / 1_000);
  if (log.isEnabled('debug'))
    exchange.log.debug('request.answered', { status, elapsed_ms: Math.round(elapsedMs * 100) / 100 });
  if (status >= 400) tellFailed(exchange, status);
}

function tellFailed(exchange: Exchange, status: number): void {
  try {
    exchange.services.onFailed?.(failedCallOf(exchange, status));
  } catch (error) {
    exchange.log.error('request.untold', { error });
  }
}

function pairs(flat: readonly string[]): string[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${flat[index + 1]}`] : []));
}
