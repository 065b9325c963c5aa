import type { Checkpoint } from '@countersign/contracts/governance-kernel';
import { noteKey, type CryptoProvider } from '@countersign/crypto';
import { VerificationError } from '@countersign/verifier';
import type { HeadPlace, HeadSigner } from '../store/checkpoint-store.ts';
import type { TrustKeyRow } from '../store/trust-key-store.ts';
import { trustedKeysOf } from './trusted-keys.ts';
import { verifyHead } from './verify-head.ts';

/** The heads of the log that the public verifier takes by the keys of today. Every answer that rests on a head asks here for it. */
export type CountedHeads = {
  isCounted(head: Checkpoint): boolean;
  /** Null while the log has no head at all. */
  findNewest(): Promise<Checkpoint | null>;
  /** One whose tree holds this leaf. */
  getCovering(logIndex: number): Promise<Checkpoint>;
  /**
   * The largest from before a revocation, by a key that had not ended then: clocks differ, so one that is dated earlier may have seen more.
   */
  findBefore(revokedAt: Date): Promise<Checkpoint | null>;
  /** The largest of at most this many leaves. */
  findUpTo(size: number): Promise<Checkpoint | null>;
  /** The smallest of at least this many leaves. It is signed now if there is none. */
  getFrom(size: number): Promise<Checkpoint>;
  /** The nearest one of a smaller tree that was signed before this one. */
  findPredecessor(head: Checkpoint): Promise<Checkpoint | null>;
};

type CountedHeadsParts = {
  provider: CryptoProvider;
  origin: string;
  findLatest(): Promise<Checkpoint | null>;
  find(id: string): Promise<Checkpoint | null>;
  /** The largest head of each of these keys at that place, the largest first. */
  listLargest(signers: readonly HeadSigner[], place: HeadPlace): Promise<Checkpoint[]>;
  /** Heads of at most this many leaves, without those of these keys, the largest first. */
  listUpTo(heads: { size: number; without: readonly string[]; limit: number }): Promise<Checkpoint[]>;
  /** The same of at least this many, the smallest first. */
  listFrom(heads: { size: number; without: readonly string[]; limit: number }): Promise<Checkpoint[]>;
  /** Signs the log as it is now. */
  create(): Promise<Checkpoint>;
};

/** A head that does not count and is not of a revoked key was signed outside the window of its key: there are few. */
const headsReadMax = 8;

export function countedHeads(parts: CountedHeadsParts, keys: readonly TrustKeyRow[]): CountedHeads {
  const { provider, origin, findLatest, create } = parts;
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
  const findAt = async (place: HeadPlace, by = signers) => (await parts.listLargest(by, place)).find(isCounted) ?? null;
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
      (await parts.listUpTo({ size, without: revoked, limit: headsReadMax })).find(isCounted) ?? null,
    getFrom: async (size) =>
      (await parts.listFrom({ size, without: revoked, limit: headsReadMax })).find(isCounted) ?? (await create()),
    findPredecessor: async ({ previous_checkpoint_id: id, created_at, tree_size }) => {
      if (id === null) return null;
      const previous = await parts.find(id);
      if (previous !== null && isCounted(previous)) return previous;
      return await findAt({ before: new Date(created_at), below: tree_size });
    },
  };
}

/** A hint finds, and no more: whether a head counts, its note says. */
function signerOf(provider: CryptoProvider, { log_origin, public_key, valid_until: until }: TrustKeyRow): HeadSigner {
  const { keyId: hint } = noteKey(provider, log_origin ?? '', Uint8Array.from(public_key));
  return { hint, until };
}
