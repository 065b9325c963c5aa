import type { Readable } from 'node:stream';
import { AppError } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';
import { isJsonObject, type JsonObject } from './passive-members.ts';

type SafeError = { status: number; headers: Record<string, string>; body: JsonObject };

/** Statuses that tell the caller something about its own request or about when to come back. */
const passedStatuses = new Set([400, 404, 408, 409, 413, 422, 429]);
/** Of these the upstream's own words help. Those of the others may quote our credential and are never passed on. */
const explainedStatuses = new Set([400, 404, 413, 422, 429]);
const errorBytesMax = 65_536;
const messageLengthMax = 500;

/** An upstream's refusal in OpenAI's form. Our own credential is never the caller's problem: 401 and 403 become 502. */
export function safeError(answer: {
  status: number;
  retryAfter: string | null;
  body: Buffer;
  requestId: string;
}): SafeError {
  const { status, retryAfter, requestId } = answer;
  const passed = passedStatuses.has(status) || status >= 500 ? status : 502;
  const said = explainedStatuses.has(status) ? errorMember(answer.body) : {};
  const fallback = `The model server answered ${status}`;
  return {
    status: passed,
    headers: retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? { 'retry-after': retryAfter } : {},
    body: {
      error: {
        message: clean(said['message']) ?? fallback,
        type: clean(said['type']) ?? typeOf(passed),
        param: clean(said['param']),
        code: clean(said['code']) ?? 'upstream_error',
        request_id: requestId,
      },
    },
  };
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'unavailable_error' : 'invalid_request_error';
}

function errorMember(body: Buffer): JsonObject {
  try {
    const value = parseStrictJson(body, { depthMax: 16, bytesMax: errorBytesMax });
    return isJsonObject(value) && isJsonObject(value['error']) ? value['error'] : {};
  } catch {
    return {};
  }
}

function clean(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  // eslint-disable-next-line no-control-regex -- control characters are what is taken out
  return value.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, messageLengthMax);
}

/** The whole body. Throws UPSTREAM_FAILED beyond the cap or when it breaks off. */
export async function readUpstreamBody(body: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const buffer of body as AsyncIterable<Buffer>) {
      // no encoding is set on it
      bytes += buffer.byteLength;
      if (bytes > bytesMax) throw new Error(`more than ${bytesMax} bytes`);
      chunks.push(buffer);
    }
  } catch (cause) {
    throw new AppError('UPSTREAM_FAILED', 'The answer of the model server broke off or was too large', { cause });
  }
  return Buffer.concat(chunks);
}
