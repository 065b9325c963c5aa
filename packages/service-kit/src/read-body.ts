import type { IncomingMessage } from 'node:http';
import { Transform } from 'node:stream';
import { AppError } from '@countersign/contracts';

/**
 * The number of bytes of a refused body that are still read before the connection is cut. An honest client then sees
 * its 413 instead of a reset.
 */
const discardBytesMax = 8_388_608;

/** The caller left before the body was complete, so no answer is possible. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted';
}

/** Whether a body follows, by RFC 9112 §6. */
export function hasBody(req: IncomingMessage): boolean {
  const length = req.headers['content-length'];
  return req.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the body is declared as JSON in UTF-8 without a content coding. */
export function requireJson(req: IncomingMessage): void {
  const type = req.headers['content-type'];
  const isJson = type === 'application/json' || (type !== undefined && jsonType.test(type));
  if (isJson && !isCoded(req)) return;
  throw new AppError('UNSUPPORTED_MEDIA_TYPE', 'The body must be application/json in UTF-8 without content coding');
}

/** Like `requireJson`, for bodies of SCIM (RFC 7644 §3.1). Identity providers send plain JSON too. */
export function requireScim(req: IncomingMessage): void {
  if (!scimType.test(req.headers['content-type'] ?? '') || isCoded(req)) requireJson(req);
}

/** Throws UNSUPPORTED_MEDIA_TYPE unless the body is declared as a form without a content coding. */
export function requireForm(req: IncomingMessage): void {
  if (declaresForm(req) && !isCoded(req)) return;
  throw new AppError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The body must be application/x-www-form-urlencoded in UTF-8 without content coding',
  );
}

export function declaresForm({ headers }: IncomingMessage): boolean {
  return formType.test(headers['content-type'] ?? '');
}

function isCoded({ headers }: IncomingMessage): boolean {
  const coding = headers['content-encoding'];
  return coding !== undefined && coding !== 'identity';
}

const jsonType = /^application\/json *(; *charset="?utf-8"? *)?$/i;
const scimType = /^application\/scim\+json *(; *charset="?utf-8"? *)?$/i;
const formType = /^application\/x-www-form-urlencoded *(; *charset="?utf-8"? *)?$/i;

/**
 * The whole body. Throws PAYLOAD_TOO_LARGE at once when the declared length exceeds the limit, otherwise as soon as the
 * body exceeds it.
 */
export function readBody(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (declaresMore(req, bytesMax)) return Promise.reject(tooLarge(req, bytesMax));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      if (length <= bytesMax) return;
      req.off('data', onData);
      reject(tooLarge(req, bytesMax));
    };
    req.on('data', onData);
    req.on('end', () =>
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length)),
    );
    const onEarlyEnd = () => {
      if (!req.complete) reject(new RequestAborted('The request ended early'));
    };
    req.on('error', onEarlyEnd);
    req.on('close', onEarlyEnd);
  });
}

/** A body that is forwarded unchanged. Fails with PAYLOAD_TOO_LARGE as soon as it exceeds the limit. */
export function boundedBody(req: IncomingMessage, bytesMax: number): Transform {
  let remaining = bytesMax;
  const bounded = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      remaining -= chunk.length;
      if (remaining >= 0) done(null, chunk);
      else {
        req.unpipe(bounded);
        done(tooLarge(req, bytesMax));
      }
    },
  });
  if (declaresMore(req, bytesMax)) bounded.destroy(tooLarge(req, bytesMax));
  else req.pipe(bounded);
  return bounded;
}

function declaresMore({ headers }: IncomingMessage, bytesMax: number): boolean {
  return Number(headers['content-length'] ?? 0) > bytesMax;
}

function tooLarge(req: IncomingMessage, bytesMax: number): AppError {
  discard(req);
  return new AppError('PAYLOAD_TOO_LARGE', `The body may have at most ${bytesMax} bytes`, {
    details: { bytes_max: bytesMax },
  });
}

function discard(req: IncomingMessage): void {
  let length = 0;
  req.on('error', () => undefined);
  req.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > discardBytesMax) req.destroy();
  });
}
