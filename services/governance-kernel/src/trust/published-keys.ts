import type { CryptoProvider } from '@countersign/crypto';
import { publicKeyBytes, type VerifiedTrustList } from '@countersign/verifier';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { newestList } from './newest-list.ts';

type Sources = {
  /** `null`: no root is configured, so kernels publish their own keys. */
  root: string | null;
  provider: CryptoProvider;
  listRows(): Promise<TrustKeyRow[]>;
  /** Newest first, and few. */
  listDocuments(): Promise<unknown[]>;
};

/** The keys that count: those of the newest trust list that the root signed. Without a root or a list, those that kernels published. */
export class PublishedKeys {
  readonly #sources: Sources;
  #last: { text: string; list: VerifiedTrustList | null } | null = null;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  async list(): Promise<TrustKeyRow[]> {
    const newest = await this.newest();
    return newest === null ? await this.#sources.listRows() : rowsOf(newest);
  }

  /** Throws RECEIPT_STORE_UNAVAILABLE. */
  async newest(): Promise<VerifiedTrustList | null> {
    const { root, provider, listDocuments } = this.#sources;
    if (root === null) return null;
    const documents = await listDocuments();
    const text = JSON.stringify(documents);
    if (this.#last?.text !== text) this.#last = { text, list: newestList(documents, { root, provider }) };
    return this.#last.list;
  }
}

function rowsOf({ keys }: VerifiedTrustList): TrustKeyRow[] {
  return keys.map((key) => ({
    key_id: key.key_id,
    public_key: Uint8Array.from(publicKeyBytes(key)),
    purpose: key.purpose,
    log_origin: key.log_origin ?? null,
    valid_from: new Date(key.valid_from),
    valid_until: key.valid_until === undefined ? null : new Date(key.valid_until),
    revoked_at: key.revoked_at === undefined ? null : new Date(key.revoked_at),
  }));
}
