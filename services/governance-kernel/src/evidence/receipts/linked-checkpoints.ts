import type { LinkedCheckpoints, LogPath } from '@countersign/contracts/governance-kernel';
import { provenConsistent } from '../proof/log-proofs.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ProofDeps } from './proven-lines.ts';

type LogDeps = Pick<ProofDeps, 'provider' | 'newReader'>;
type Tree = { tree_size: number };

/**
 * The checkpoints of a header, each except the first with the proof that it extends the previous one. A proof has at
 * most a few dozen hashes.
 */
export async function linkedCheckpoints(
  deps: LogDeps,
  checkpoints: Witnesses['checkpoints'],
): Promise<LinkedCheckpoints> {
  const consistency: LogPath[] = [];
  for (const [at, to] of checkpoints.slice(1).entries())
    consistency.push(await provenExtended(deps, { from: checkpoints[at], to }));
  return { checkpoints: checkpoints.map(({ note }) => note), consistency };
}

/** The proof that the tree `to` extends the tree `from`. Nothing must be proven for an empty tree `from`. */
export async function provenExtended(
  { provider, newReader }: LogDeps,
  { from = { tree_size: 0 }, to }: { from: Tree | undefined; to: Tree },
): Promise<LogPath> {
  if (from.tree_size === 0) return [];
  return provenConsistent(provider, newReader(), { from: from.tree_size, to: to.tree_size });
}
