import type { AnyRoute, Media } from '@countersign/contracts';
import { answerContent, takenOver } from './answer.ts';
import type { Endpoint, EndpointInput } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { answerOnce, keepableHeaders, type OnceOptions, type StoredAnswer } from './idempotency.ts';
import { presetHeaders, sendText } from './send.ts';

/** Media whose answers are one text. */
const wholeAnswers: ReadonlySet<Media> = new Set(['json', 'html', 'script', 'authzen', 'oauth', 'scim']);

type Invoke = (input: EndpointInput) => unknown;
type Once = Omit<OnceOptions, 'log'>;

/** Runs the handler, at most once per idempotency key, and sends its answer. */
export async function runHandler(exchange: Exchange, endpoint: Endpoint, invoke: Invoke): Promise<void> {
  const { route } = endpoint;
  const mayTakeOver = endpoint.options.passesThrough === true || !wholeAnswers.has(route.media);
  if (mayTakeOver) presetHeaders(exchange);
  const once = onceOnly(exchange, endpoint);
  if (once !== null) {
    await runHandlerOnce(exchange, route, invoke, once);
    return;
  }
  const result = await invoke(exchange);
  if (result === takenOver && mayTakeOver) return;
  sendStored(exchange, storedAnswer(exchange, route, result));
}

/**
 * The scope contains principal and operation. Without a principal, the key is ignored, since strangers must not replay
 * each other's answers.
 */
function onceOnly({ idempotency, services, caller }: Exchange, { route, options }: Endpoint): Once | null {
  if (idempotency === null || services.idempotency === null) return null;
  if (route.idempotency !== 'key' || options.idempotency === 'handler' || route.media !== 'json') return null;
  const key = services.callerKey(caller);
  return key === null ? null : { store: services.idempotency, claim: idempotency, scope: `${route.operation} ${key}` };
}

async function runHandlerOnce(exchange: Exchange, route: AnyRoute, invoke: Invoke, once: Once): Promise<void> {
  const headersBefore = exchange.headers.length;
  const { answer, replayed } = await answerOnce({ ...once, log: exchange.log }, async () => {
    const stored = storedAnswer(exchange, route, await invoke(exchange));
    return { ...stored, headers: { ...keepableHeaders(exchange.headers.slice(headersBefore)), ...stored.headers } };
  });
  if (replayed) exchange.setHeader('idempotency-replayed', 'true');
  sendStored(exchange, answer);
}

function sendStored(exchange: Exchange, stored: StoredAnswer): void {
  for (const [name, value] of Object.entries(stored.headers)) exchange.setHeader(name, value);
  sendText(exchange, stored.status, stored.text);
}

const noHeaders = {};

function storedAnswer(exchange: Exchange, route: AnyRoute, result: unknown): StoredAnswer {
  if (result === takenOver) throw new Error(`${route.operation} may not take its response over`);
  const content = answerContent(result);
  if ((route.media === 'html' || route.media === 'script') && content?.body.kind !== 'serialised')
    throw new Error(`${route.operation} must answer with page() or prepared()`);
  const status = content?.status ?? route.status;
  if (status !== route.status && route.alsoStatus?.includes(status) !== true) {
    throw new Error(`${route.operation} may not answer ${status}`);
  }
  const text = textOf(content === null ? { kind: 'value', value: result } : content.body, status);
  if (exchange.services.checkReplies && hasShape(route) && status !== 204 && status !== 304) checkReply(route, text);
  return { status, headers: content?.headers ?? noHeaders, text };
}

function hasShape({ media }: AnyRoute): boolean {
  return media === 'json' || media === 'authzen' || media === 'oauth' || media === 'scim';
}

function textOf(
  body: { kind: 'value'; value: unknown } | { kind: 'serialised'; text: string },
  status: number,
): string {
  if (body.kind === 'serialised') return body.text;
  if (status === 204) return '';
  const text = JSON.stringify(body.value) as string | undefined; // JSON has no text for undefined
  if (text === undefined) throw new Error('The handler returned nothing');
  return text;
}

/** Checks the text that the caller reads, and not the object that the handler returned. */
function checkReply(route: AnyRoute, text: string): void {
  const parsed = route.reply.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error(`The reply of ${route.operation} breaks its contract`, { cause: parsed.error });
}
