import { ErrorEnvelope } from '@countersign/contracts';
import type { GovernanceConfig } from '../config.ts';
import { KernelError } from './kernel-error.ts';

export type KernelRequest = {
  method: 'GET' | 'POST';
  path: string;
  tenant: string;
  principal: string;
  headers?: Record<string, string>;
  /** JSON text, sent as it is: a repeated request must have the same bytes. */
  body?: string;
  signal?: AbortSignal;
};

export type KernelAnswer = { status: number; headers: Headers; body: unknown };
export type KernelTransport = (request: KernelRequest) => Promise<KernelAnswer>;

/** Pauses before the same request is sent again under the same key. */
const retryPausesMs = [200, 1_000];
/** The first request with this key still runs in the kernel: its answer is worth waiting for until the deadline. */
const inFlightPauseMs = 500;
/** Statuses that say "not now" and nothing about the request. */
const retryableStatuses = new Set([425, 429, 503]);
/** No honest answer of the kernel is larger; a lying one must not fill the memory. */
const answerBytesMax = 16_777_216;

/** Requests to the kernel as an administrator who speaks for one tenant. Throws KernelError. */
export function createKernelTransport(config: GovernanceConfig, fetchNow: typeof fetch = fetch): KernelTransport {
  return async (request) => {
    const deadline = AbortSignal.timeout(config.timeoutMs);
    const ending = AbortSignal.any([deadline, ...(request.signal ? [request.signal] : [])]);
    const send = () => attempt(config, request, deadline, fetchNow);
    if (!isRepeatable(request)) return send();
    for (const pauseMs of retryPausesMs) {
      const answer = await settled(send, ending).catch(retryable);
      if (answer !== null && !retryableStatuses.has(answer.status)) return answer;
      await pause(pauseMs, ending);
    }
    return settled(send, ending);
  };
}

async function settled(send: () => Promise<KernelAnswer>, ending: AbortSignal): Promise<KernelAnswer> {
  let answer = await send();
  while (isInFlight(answer) && !ending.aborted) {
    await pause(inFlightPauseMs, ending);
    answer = await send();
  }
  return answer;
}

function isInFlight({ status, body }: KernelAnswer): boolean {
  const envelope = ErrorEnvelope.safeParse(body);
  return status === 409 && envelope.success && envelope.data.error.code === 'IDEMPOTENCY_IN_FLIGHT';
}

async function attempt(
  config: GovernanceConfig,
  request: KernelRequest,
  deadline: AbortSignal,
  fetchNow: typeof fetch,
): Promise<KernelAnswer> {
  try {
    const response = await fetchNow(new URL(request.path, config.url), {
      method: request.method,
      headers: {
        authorization: `Bearer ${config.adminApiKey}`,
        'x-gov-tenant-id': request.tenant,
        'x-gov-principal-id': request.principal,
        ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...request.headers,
      },
      ...(request.body === undefined ? {} : { body: request.body }),
      signal: AbortSignal.any([deadline, ...(request.signal ? [request.signal] : [])]),
      redirect: 'error',
    });
    return { status: response.status, headers: response.headers, body: parseJson(await readText(response)) };
  } catch (cause) {
    if (request.signal?.aborted)
      throw new KernelError('interrupted', 'INTERRUPTED', 'The worker is stopping', { cause });
    if (cause instanceof KernelError) throw cause;
    const code = deadline.aborted ? 'GOVERNANCE_TIMEOUT' : 'GOVERNANCE_UNAVAILABLE';
    throw new KernelError('unreachable', code, 'The kernel did not answer', { cause });
  }
}

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | Uint8Array[] = response.body ?? [];
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > answerBytesMax) throw new KernelError('unreachable', 'GOVERNANCE_MALFORMED', 'The answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KernelError('unreachable', 'GOVERNANCE_MALFORMED', 'The answer of the kernel is not JSON', { cause });
  }
}

/** Only a connection that failed is tried again; a deadline is over, a stop is a stop. */
function retryable(error: unknown): null {
  if (error instanceof KernelError && error.code === 'GOVERNANCE_UNAVAILABLE') return null;
  throw error;
}

/** A POST without a key is a vote on an approval. One whose answer got lost may count all the same, so it is not cast again here. */
function isRepeatable({ method, headers }: KernelRequest): boolean {
  return method === 'GET' || headers?.['idempotency-key'] !== undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
