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
  /** The largest from before an instant: clocks differ, so one that is dated earlier may have seen more. */
  findBefore(at: Date): Promise<Checkpoint | null>;
  /** The nearest one of a smaller tree that was signed before this one. */
  findPredecessor(head: Checkpoint): Promise<Checkpoint | null>;
};

type CountedHeadsParts = {
  provider: CryptoProvider;
  origin: string;
  findLatest(): Promise<Checkpoint | null>;
  find(id: string): Promise<Checkpoint | null>;
  /** Of each of these keys its largest head at that place, the largest first. */
  listLargest(signers: readonly HeadSigner[], place: HeadPlace): Promise<Checkpoint[]>;
  /** Signs the log as it is now. */
  create(): Promise<Checkpoint>;
};

export function countedHeads(parts: CountedHeadsParts, keys: readonly TrustKeyRow[]): CountedHeads {
  const { provider, origin, findLatest, create } = parts;
  const trust = { trust: trustedKeysOf(keys), provider, origin };
  const signers = keys.filter(({ purpose }) => purpose === 'log').map((key) => signerOf(provider, key));
  const isCounted = (head: Checkpoint) => {
    try {
      verifyHead(head, trust);
      return true;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return false;
    }
  };
  const findAt = async (place: HeadPlace) => (await parts.listLargest(signers, place)).find(isCounted) ?? null;
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
    findBefore: (at) => findAt({ before: at, below: null }),
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
