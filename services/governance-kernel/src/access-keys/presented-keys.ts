import { AppError, type AccessKeyId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { hasEnded, type AccessKeyRow } from './access-keys.ts';
import { secretHash } from './secret.ts';

type Parts = {
  provider: CryptoProvider;
  find(secretHash: string): Promise<AccessKeyRow | null>;
  findById(id: AccessKeyId): Promise<AccessKeyRow | null>;
  recordUses(uses: ReadonlyMap<AccessKeyId, Date>): Promise<void>;
  clock: () => Date;
};

type Known = { key: AccessKeyRow; readAtMs: number };

/**
 * How long a door may take a revoked key for a live one. A decision under it sees the revocation at once all the same,
 * since it reads the key again.
 */
const keyAgeMaxMs = 1_000;
const keysKnownMax = 10_000;

/** The keys that callers present. */
export class PresentedKeys {
  readonly #parts: Parts;
  readonly #known = new Map<string, Known>();
  readonly #used = new Map<AccessKeyId, Date>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The key behind a secret. Throws CREDENTIALS_INVALID for one that does not exist or has ended. */
  get(secret: string): AccessKeyRow | Promise<AccessKeyRow> {
    const hash = secretHash(this.#parts.provider, secret);
    const now = this.#parts.clock();
    const known = this.#known.get(hash);
    if (known !== undefined && now.getTime() - known.readAtMs < keyAgeMaxMs) return this.#accepted(known.key, now);
    return this.#read(hash, now);
  }

  /** The current state of a key whose secret was presented before; `null` when it has ended. */
  async findById(id: AccessKeyId): Promise<AccessKeyRow | null> {
    const now = this.#parts.clock();
    const key = await this.#parts.findById(id);
    if (key === null || hasEnded(key, now.getTime())) return null;
    this.#used.set(key.id, now);
    return key;
  }

  /** Writes down which keys were used since the last time. */
  async recordUses(): Promise<void> {
    const uses = new Map(this.#used);
    this.#used.clear();
    if (uses.size === 0) return;
    await this.#parts.recordUses(uses).catch((error: unknown) => {
      for (const [id, at] of uses) if (!this.#used.has(id)) this.#used.set(id, at);
      throw error;
    });
  }

  async #read(hash: string, now: Date): Promise<AccessKeyRow> {
    const key = await this.#parts.find(hash);
    if (key === null) throw invalid();
    if (this.#known.size >= keysKnownMax) this.#known.clear();
    this.#known.set(hash, { key, readAtMs: now.getTime() });
    return this.#accepted(key, now);
  }

  #accepted(key: AccessKeyRow, now: Date): AccessKeyRow {
    if (hasEnded(key, now.getTime())) throw invalid();
    this.#used.set(key.id, now);
    return key;
  }
}

function invalid(): AppError {
  return new AppError('CREDENTIALS_INVALID', 'The access key does not exist, has expired or was revoked');
}
