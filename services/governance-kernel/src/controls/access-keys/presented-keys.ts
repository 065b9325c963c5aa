import { AppError, type AccessKeyId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { hasEnded, type AccessKeyRow } from './access-keys.ts';
import { secretHash } from './secret.ts';

type Deps = {
  provider: CryptoProvider;
  find(secretHash: string): Promise<AccessKeyRow | null>;
  findById(id: AccessKeyId): Promise<AccessKeyRow | null>;
  recordUses(uses: ReadonlyMap<AccessKeyId, Date>): Promise<void>;
  clock: () => Date;
};

type Entry = { key: AccessKeyRow; readAtMs: number };

/** How long a route may accept a revoked key. A decision reads the key again, so it sees the revocation at once. */
const keyAgeMaxMs = 1_000;
const keysKnownMax = 10_000;

/** The keys that callers present. */
export class PresentedKeys {
  readonly #deps: Deps;
  readonly #cache = new Map<string, Entry>();
  readonly #used = new Map<AccessKeyId, Date>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** The key with this secret. Throws CREDENTIALS_INVALID if the key does not exist or has ended. */
  get(secret: string): AccessKeyRow | Promise<AccessKeyRow> {
    const hash = secretHash(this.#deps.provider, secret);
    const now = this.#deps.clock();
    const existing = this.#cache.get(hash);
    if (existing !== undefined && now.getTime() - existing.readAtMs < keyAgeMaxMs)
      return this.#accepted(existing.key, now);
    return this.#read(hash, now);
  }

  /** The current state of a key whose secret was presented before. `null` when it no longer exists or has ended. */
  async findById(id: AccessKeyId): Promise<AccessKeyRow | null> {
    const now = this.#deps.clock();
    const key = await this.#deps.findById(id);
    if (key === null || hasEnded(key, now.getTime())) return null;
    this.#used.set(key.id, now);
    return key;
  }

  /** Stores which keys were used since the last call. */
  async recordUses(): Promise<void> {
    const uses = new Map(this.#used);
    this.#used.clear();
    if (uses.size === 0) return;
    await this.#deps.recordUses(uses).catch((error: unknown) => {
      for (const [id, at] of uses) if (!this.#used.has(id)) this.#used.set(id, at);
      throw error;
    });
  }

  async #read(hash: string, now: Date): Promise<AccessKeyRow> {
    const key = await this.#deps.find(hash);
    if (key === null) throw invalid();
    if (this.#cache.size >= keysKnownMax) this.#cache.clear();
    this.#cache.set(hash, { key, readAtMs: now.getTime() });
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
