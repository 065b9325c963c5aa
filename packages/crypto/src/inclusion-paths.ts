import { decodeBase64 } from './base64.ts';
import { equalBytes } from './bytes.ts';
import { hashBytes, nodeHash } from './merkle-tree.ts';
import { isRightChild, parent, verifyInclusion, type InclusionClaim, type Position } from './merkle-verify.ts';
import type { CryptoProvider } from './provider.ts';

/** An inclusion proof with its path in base64, from the sibling of the leaf up. */
export type EncodedInclusionClaim = Omit<InclusionClaim, 'proof'> & { proof: readonly string[] };

/** A node on the path from a leaf to the root. */
type Step = { position: Position; hash: Uint8Array };
type ProvenPath = { size: number; root: Uint8Array; proof: readonly string[]; steps: Step[] };

/**
 * Verifies inclusion proofs one after another. The proofs of neighbours share most of their path. If a path reaches a
 * node of the last proven path, and both proofs have the same hashes from there on, then the rest is already proven.
 */
export class InclusionPaths {
  readonly #provider: CryptoProvider;
  #last: ProvenPath | null = null;

  constructor(provider: CryptoProvider) {
    this.#provider = provider;
  }

  /** Returns only if the leaf is proven. Throws like {@link verifyInclusion}, and `MALFORMED_ENCODING`. */
  verify(claim: EncodedInclusionClaim): void {
    if (this.#proves(claim)) return;
    verifyInclusion(this.#provider, { ...claim, proof: claim.proof.map(decodeBase64) });
  }

  /** Whether the leaf is proven. If not, the general function states the reason. */
  #proves({ index, size, leafHash, proof, root }: EncodedInclusionClaim): boolean {
    const last = this.#last?.size === size && equalBytes(this.#last.root, root) ? this.#last : null;
    const isPlace = Number.isSafeInteger(size) && Number.isSafeInteger(index) && index >= 0 && index < size;
    if (!isPlace || leafHash.length !== hashBytes) return false;
    const steps: Step[] = [];
    let position: Position = { node: index, last: size - 1 };
    let hash = leafHash;
    for (let at = 0; at < proof.length; at += 1) {
      if (last !== null && isProven(last, { at, position, hash, proof })) return continued(last, { steps, proof });
      const sibling = decodeBase64(proof[at] ?? '');
      if (position.last === 0 || sibling.length !== hashBytes) return false;
      steps.push({ position, hash });
      hash = isRightChild(position) ? nodeHash(this.#provider, sibling, hash) : nodeHash(this.#provider, hash, sibling);
      position = parent(position);
    }
    if (position.last !== 0 || !equalBytes(hash, root)) return false;
    this.#last = { size, root, proof, steps };
    return true;
  }
}

/** Replaces the steps below the node that both paths share. */
function continued(last: ProvenPath, { steps, proof }: Pick<ProvenPath, 'steps' | 'proof'>): true {
  for (const [at, step] of steps.entries()) last.steps[at] = step;
  last.proof = proof;
  return true;
}

type Reached = Step & { at: number; proof: readonly string[] };

/** The remaining steps depend on nothing but the values that are compared here. */
function isProven(last: ProvenPath, { at, position, hash, proof }: Reached): boolean {
  const step = last.steps[at];
  if (step === undefined || step.position.node !== position.node || step.position.last !== position.last) return false;
  if (proof.length !== last.proof.length || !equalBytes(step.hash, hash)) return false;
  for (let next = at; next < proof.length; next += 1) if (proof[next] !== last.proof[next]) return false;
  return true;
}
