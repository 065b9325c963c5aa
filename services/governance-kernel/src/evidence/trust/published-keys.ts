import type { CryptoProvider } from '@countersign/crypto';
import { publicKeyBytes, type TrustedKey, type VerifiedTrustList } from '@countersign/verifier';
import type { EvidenceKeyRow } from '../../controls/evidence/evidence-envelopes.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { newestList } from './newest-list.ts';

type Sources = {
  /** `null` when no root is configured. Kernels then publish their own keys. */
  root: string | null;
  provider: CryptoProvider;
  listRows(): Promise<TrustKeyRow[]>;
  /** The evidence keys that kernels published. */
  listEvidenceRows(): Promise<EvidenceKeyRow[]>;
  /** Some of the newest stored lists, newest first. */
  listDocuments(): Promise<unknown[]>;
};

/**
 * The published keys: the keys in the newest trust list that the root signed. Without a root or a list, the keys that
 * kernels published.
 */
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

  /** The evidence keys of the trust list. Without evidence keys in it, the keys that kernels published. */
  async listEvidence(): Promise<EvidenceKeyRow[]> {
    const listed = (await this.newest())?.evidenceKeys ?? [];
    if (listed.length === 0) return await this.#sources.listEvidenceRows();
    return listed.map((key) => ({ ...windowOf(key), key_id: key.key_id, alg: key.alg, public_key: key.public_key }));
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
    ...windowOf(key),
  }));
}

function windowOf(key: Pick<TrustedKey, 'valid_from' | 'valid_until' | 'revoked_at'>) {
  return {
    valid_from: new Date(key.valid_from),
    valid_until: key.valid_until === undefined ? null : new Date(key.valid_until),
    revoked_at: key.revoked_at === undefined ? null : new Date(key.revoked_at),
  };
}
