import type { Readable } from 'node:stream';
import { AppError, errorCodes, type ErrorEnvelope } from '@countersign/contracts';
import { parseStrictJson } from '@countersign/crypto';
import { isJsonObject, type JsonObject } from './passive-members.ts';

/** The ID of the request, and a function that removes our credential from the upstream's text. */
type Words = { requestId: string; redacted: (text: string) => string };

/** An error in OpenAI's form, which our own error body has too. */
export type ErrorBody = {
  error: Pick<ErrorEnvelope['error'], 'message' | 'param' | 'request_id' | 'retryable'> & {
    type: string;
    code: string;
  };
};

type SafeError = { status: number; headers: Record<string, string>; body: ErrorBody };

/** Statuses that inform the caller about its own request or about when to retry. */
const passedStatuses = new Set([400, 404, 408, 409, 413, 422, 429]);
/**
 * The upstream's own text helps for these statuses. Its texts for other statuses may quote our credential and are never
 * forwarded.
 */
const explainedStatuses = new Set([400, 404, 413, 422, 429]);
const errorBytesMax = 65_536;
const messageLengthMax = 500;

/** An error that the upstream reports in the middle of a stream. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamSaid';
  readonly body: JsonObject;

  constructor(error: JsonObject) {
    super('The model server ended its stream with an error');
    this.body = error;
  }
}

export function streamError({ body: statement, message }: UpstreamFailure, words: Words): ErrorBody {
  return errorBody(statement, { ...words, status: 502, fallback: { message, code: 'UPSTREAM_FAILED' } });
}

/** Whether the caller may retry the request. SDKs retry the same statuses. */
const isRetryable = (status: number) => status === 408 || status === 409 || status === 429 || status >= 500;

/**
 * An upstream's refusal in OpenAI's form. The caller cannot fix our credential, so 401 and 403 become 502. Other
 * statuses below 500 that callers cannot act on become 502 too.
 */
export function safeError({ status, body, ...words }: Words & { status: number; body: Buffer }): SafeError {
  if (status === 401 || status === 403) return credentialRefused(status, words);
  const passed = passedStatuses.has(status) || status >= 500 ? status : 502;
  const error = explainedStatuses.has(status) ? errorMember(body) : {};
  const fallback = { message: `The model server answered ${status}`, code: 'upstream_error' };
  return { status: passed, headers: {}, body: errorBody(error, { ...words, status: passed, fallback }) };
}

/**
 * The error for a refused key of this kernel, which only an operator can fix. The header stops the OpenAI SDKs from
 * retrying a 502.
 */
function credentialRefused(status: number, words: Words): SafeError {
  const { nextStep, retryable } = errorCodes.UPSTREAM_KEY_REFUSED;
  const message = `The model server answered ${status} to the key of this kernel. ${nextStep}`;
  const fallback = { message, code: 'UPSTREAM_KEY_REFUSED' };
  const body = errorBody({}, { ...words, status: 502, retryable, fallback });
  return { status: 502, headers: { 'x-should-retry': 'false' }, body };
}

type Terms = Words & { status: number; retryable?: boolean; fallback: { message: string; code: string } };

function errorBody(
  error: JsonObject,
  { status, retryable = isRetryable(status), requestId, redacted, fallback }: Terms,
): ErrorBody {
  const word = (value: unknown) => (typeof value === 'string' && value !== '' ? clean(redacted(value)) : null);
  return {
    error: {
      message: word(error['message']) ?? fallback.message,
      type: word(error['type']) ?? typeOf(status),
      param: word(error['param']),
      code: word(error['code']) ?? fallback.code,
      request_id: requestId,
      retryable,
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

function clean(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what is taken out
  return text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, messageLengthMax);
}

/** The whole body. Throws UPSTREAM_FAILED above the limit or when it breaks off. */
export async function readUpstreamBody(body: Readable, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const buffer of body as AsyncIterable<Buffer>) {
      // no encoding is set on it, so its chunks are buffers
      bytes += buffer.byteLength;
      if (bytes > bytesMax) throw new Error(`more than ${bytesMax} bytes`);
      chunks.push(buffer);
    }
  } catch (cause) {
    throw new AppError(
      'UPSTREAM_FAILED',
      'The answer of the model server was cut off, or was too large. Request it as a stream',
      { cause },
    );
  }
  return Buffer.concat(chunks);
}
