import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { startDeadline } from '@countersign/contracts';
import { Webhook } from 'standardwebhooks';
import { isPublicAddress, lookupPublic } from './public-address.ts';

/** The result of one attempt. `gone`: the receiver must get no more notifications, as after a status of 410. */
export type Outcome = { kind: 'delivered' } | { kind: 'gone' } | { kind: 'failed'; error: string };

export type WebhookPost = (
  message: { id: string; url: string; body: string; secrets: readonly string[]; now: Date },
  signal: AbortSignal,
) => Promise<Outcome>;

/** Longer than most receivers need, and short enough that a slow receiver delays few others. */
const timeoutMsDefault = 15_000;

/**
 * Posts a body, signed as in Standard Webhooks 1.0: `webhook-id`, `webhook-timestamp`, and `webhook-signature` with one
 * signature for each secret. A status of 2xx means delivered. Redirects are not followed, and the body of the response
 * is not read. `reachesPrivate` allows plain HTTP and addresses that are not public, for local development.
 */
export function createWebhookPost({
  reachesPrivate = false,
  timeoutMs = timeoutMsDefault,
}: { reachesPrivate?: boolean; timeoutMs?: number } = {}): WebhookPost {
  return async ({ id, url, body, secrets, now }, signal) => {
    const refusal = reachesPrivate ? null : refusalOf(new URL(url));
    if (refusal !== null) return failed(refusal);
    const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body));
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'countersign-webhooks/1',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': signatures.join(' '),
    };
    const ended = startDeadline({ ms: timeoutMs, signal });
    try {
      return outcomeOf(await post(new URL(url), { headers, body, signal: ended.signal, reachesPrivate }));
    } catch (error) {
      return failed(ended.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(error));
    } finally {
      ended.clear();
    }
  };
}

/** The reason why a URL is refused before its name is resolved. `null` when it is allowed. */
function refusalOf(url: URL): string | null {
  if (url.protocol !== 'https:') return 'the URL of a webhook must use https';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return isIP(host) !== 0 && !isPublicAddress(host) ? 'the address is not public' : null;
}

type Posted = { headers: Record<string, string>; body: string; signal: AbortSignal; reachesPrivate: boolean };

function post(url: URL, { headers, body, signal, reachesPrivate }: Posted): Promise<number> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  const lookup = reachesPrivate ? {} : { lookup: lookupPublic };
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    // No agent, because the address of a reused connection would not be checked again.
    const options = { method: 'POST', headers: { ...headers, ...length }, signal, agent: false, ...lookup } as const;
    const sent = request(url, options, (response: IncomingMessage) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function outcomeOf(status: number): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  const isRedirect = status >= 300 && status < 400;
  return failed(isRedirect ? `status ${status}: redirects are not followed` : `status ${status}`);
}

function failed(error: string): Outcome {
  return { kind: 'failed', error };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message.slice(0, 200);
}
