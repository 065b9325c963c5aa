import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@countersign/contracts';
import type { Log } from './logger.ts';

/**
 * Draft idempotency-key-header-07 requires a quoted string. Bare tokens are accepted because most clients send them.
 */
const quotedKey = /^"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"$/;
const bareKey = /^[\x21\x23-\x5b\x5d-\x7e]{1,255}$/;

export type StoredAnswer = { status: number; headers: Readonly<Record<string, string>>; text: string };

/** Headers with credentials, which are sent once and never stored. */
const neverKept: ReadonlySet<string> = new Set(['set-cookie', 'x-new-token']);

/** The headers of an answer that are stored with it, names and values alternating. */
export function keepableHeaders(headers: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    if (!neverKept.has(name)) kept[name] = headers[index + 1] ?? '';
  }
  return kept;
}

export type IdempotencyVerdict =
  { kind: 'run' } | { kind: 'replay'; answer: StoredAnswer } | { kind: 'in-flight' } | { kind: 'mismatch' };

/** The store of a service. `begin` must be atomic: of two equal claims one gets `run`. Keys live 24 hours. */
export type IdempotencyStore = {
  begin(scope: string, key: string, fingerprint: string): Promise<IdempotencyVerdict>;
  complete(scope: string, key: string, answer: StoredAnswer): Promise<void>;
  abandon(scope: string, key: string): Promise<void>;
};

/** The claim of one request. Requests with equal fingerprints are repetitions. */
export type IdempotencyClaim = { key: string; fingerprint: string };

/** The claim of a request, or `null` without the header. Throws INVALID_REQUEST when the header is malformed. */
export function idempotencyClaim(req: IncomingMessage, body: Buffer | null): IdempotencyClaim | null {
  const header = req.headers['idempotency-key'];
  if (header === undefined) return null;
  const text = String(header);
  const key = quotedKey.exec(text)?.[1] ?? bareKey.exec(text)?.[0];
  if (key === undefined) {
    throw new AppError('INVALID_REQUEST', 'Idempotency-Key must be 1 to 255 visible ASCII characters', {
      param: 'Idempotency-Key',
    });
  }
  const hash = createHash('sha256').update(`${req.method} ${req.url}\n`);
  if (body !== null) hash.update(body);
  return { key, fingerprint: `sha256:${hash.digest('hex')}` };
}

export type OnceOptions = {
  store: IdempotencyStore;
  /** Identifies operation and caller, since the key of one caller must not be answered for another. */
  scope: string;
  claim: IdempotencyClaim;
  log: Log;
};

/**
 * Runs `work` at most once for a claim, and returns its answer again for a repeated request. Work that throws frees the
 * key. Throws IDEMPOTENCY_IN_FLIGHT and IDEMPOTENCY_KEY_REUSED.
 */
export async function answerOnce(
  options: OnceOptions,
  work: () => Promise<StoredAnswer>,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const { store, scope, claim, log } = options;
  const earlier = await beginOnce(options);
  if (earlier !== null) return { answer: earlier, replayed: true };
  const answer = await work().catch(async (error: unknown) => {
    await freeKey(options);
    throw error;
  });
  // The effect has happened, so failing to store its answer must not turn it into an error.
  await store
    .complete(scope, claim.key, answer)
    .catch((error: unknown) => log.error('idempotency.complete_failed', { error }));
  return { answer, replayed: false };
}

/** Claims the key. Returns the stored answer of an earlier equal request, or `null` when this one must run. */
async function beginOnce({ store, scope, claim }: OnceOptions): Promise<StoredAnswer | null> {
  const verdict = await store.begin(scope, claim.key, claim.fingerprint);
  switch (verdict.kind) {
    case 'run':
      return null;
    case 'replay':
      return verdict.answer;
    case 'in-flight':
      throw inFlight();
    case 'mismatch':
      throw new AppError('IDEMPOTENCY_KEY_REUSED', 'Idempotency-Key was used for a different request. Use a new key');
    default:
      return verdict satisfies never;
  }
}

async function freeKey({ store, scope, claim, log }: OnceOptions): Promise<void> {
  await store.abandon(scope, claim.key).catch((error: unknown) => log.error('idempotency.abandon_failed', { error }));
}

/** The error while the first request with the same key has not been answered yet. */
export function inFlight(): AppError {
  return new AppError(
    'IDEMPOTENCY_IN_FLIGHT',
    'The first request with this Idempotency-Key is still running. Repeat it later',
    {
      headers: { 'retry-after': '1' },
    },
  );
}
