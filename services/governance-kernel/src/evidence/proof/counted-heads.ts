import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { noteKey, type CryptoProvider } from '@countersign/crypto';
import { VerificationError } from '@countersign/verifier';
import type { HeadPlace, HeadSigner } from '../../store/checkpoint-store.ts';
import type { TrustKeyRow } from '../../store/trust-key-store.ts';
import { trustedKeysOf } from './trusted-keys.ts';
import { verifyHead } from './verify-head.ts';

/**
 * The heads of the log that the public verifier accepts with the current keys. Every answer that depends on a head uses
 * them.
 */
export type CountedHeads = {
  isCounted(head: Checkpoint): boolean;
  /** The newest head, or a newly signed one if the newest is not valid. `null` while the log has no head. */
  findNewest(): Promise<Checkpoint | null>;
  /** A head whose tree contains this leaf. A new head is signed if the newest one is not valid or is too small. */
  getCovering(logIndex: number): Promise<Checkpoint>;
  /**
   * The largest head from before a revocation, by a key that was valid then. Clocks differ, so it need not be the
   * newest of these heads.
   */
  findBefore(revokedAt: Date): Promise<Checkpoint | null>;
  /** The largest head with at most this many leaves. */
  findUpTo(size: number): Promise<Checkpoint | null>;
  /** The smallest head with at least this many leaves. A new head is signed if there is none. */
  getFrom(size: number): Promise<Checkpoint>;
  /** The nearest head of a smaller tree that was signed before this one. */
  findPredecessor(head: Checkpoint): Promise<Checkpoint | null>;
};

type CountedHeadsDeps = {
  provider: CryptoProvider;
  origin: string;
  findLatest(): Promise<Checkpoint | null>;
  find(id: string): Promise<Checkpoint | null>;
  /** For each of these keys, its largest head at `place`. The largest of these heads comes first. */
  listLargest(signers: readonly HeadSigner[], place: HeadPlace): Promise<Checkpoint[]>;
  /** Heads with at most this many leaves that none of these keys signed, largest first. */
  listUpTo(heads: { size: number; without: readonly string[]; limit: number }): Promise<Checkpoint[]>;
  /** Heads with at least this many leaves that none of these keys signed, smallest first. */
  listFrom(heads: { size: number; without: readonly string[]; limit: number }): Promise<Checkpoint[]>;
  /** Signs a head of the current log. */
  create(): Promise<Checkpoint>;
};

/** The limit of heads to try. Heads of revoked keys are not read, and other invalid heads are few. */
const headsReadMax = 8;

export function countedHeads(deps: CountedHeadsDeps, keys: readonly TrustKeyRow[]): CountedHeads {
  const { provider, origin, findLatest, create } = deps;
  const trust = { trust: trustedKeysOf(keys), provider, origin };
  const logKeys = keys.filter(({ purpose }) => purpose === 'log');
  const signers = logKeys.map((key) => signerOf(provider, key));
  const revoked = logKeys.filter(({ revoked_at }) => revoked_at !== null).map((key) => signerOf(provider, key).hint);
  const isCounted = (head: Checkpoint) => {
    try {
      verifyHead(head, trust);
      return true;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return false;
    }
  };
  const findAt = async (place: HeadPlace, by = signers) => (await deps.listLargest(by, place)).find(isCounted) ?? null;
  return {
    isCounted,
    findNewest: async () => {
      const latest = await findLatest();
      return latest === null || isCounted(latest) ? latest : await create();
    },
    getCovering: async (logIndex) => {
      const latest = await findLatest();
      return latest !== null && latest.tree_size > logIndex && isCounted(latest) ? latest : await create();
    },
    findBefore: (revokedAt) => {
      const lasting = signers.filter(({ until }) => until === null || until > revokedAt);
      return findAt({ before: revokedAt, below: null }, lasting);
    },
    findUpTo: async (size) =>
      (await deps.listUpTo({ size, without: revoked, limit: headsReadMax })).find(isCounted) ?? null,
    getFrom: async (size) =>
      (await deps.listFrom({ size, without: revoked, limit: headsReadMax })).find(isCounted) ?? (await create()),
    findPredecessor: async ({ previous_checkpoint_id: id, created_at, tree_size }) => {
      if (id === null) return null;
      const previous = await deps.find(id);
      if (previous !== null && isCounted(previous)) return previous;
      return await findAt({ before: new Date(created_at), below: tree_size });
    },
  };
}

/**
 * The key as the search for heads uses it. Its hint only finds candidates: the note decides whether a head is valid.
 */
function signerOf(provider: CryptoProvider, { log_origin, public_key, valid_until: until }: TrustKeyRow): HeadSigner {
  const { keyId: hint } = noteKey(provider, log_origin ?? '', Uint8Array.from(public_key));
  return { hint, until };
}
