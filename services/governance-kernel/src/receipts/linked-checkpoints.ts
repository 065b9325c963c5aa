import type { LinkedCheckpoints, LogPath } from '@countersign/contracts/governance-kernel';
import { provenConsistent } from '../proof/log-proofs.ts';
import type { Witnesses } from '../proof/witnesses.ts';
import type { ProofParts } from './proven-lines.ts';

type LogParts = Pick<ProofParts, 'provider' | 'newReader'>;
type Tree = { tree_size: number };

/** The checkpoints of a header, and of each but the first the proof that it extends the one before: some dozen hashes each, at most. */
export async function linkedCheckpoints(
  parts: LogParts,
  checkpoints: Witnesses['checkpoints'],
): Promise<LinkedCheckpoints> {
  const consistency: LogPath[] = [];
  for (const [at, to] of checkpoints.slice(1).entries())
    consistency.push(await provenExtended(parts, { from: checkpoints[at], to }));
  return { checkpoints: checkpoints.map(({ note }) => note), consistency };
}

/** Every log begins with no leaves, so from there nothing is to be proven. */
export async function provenExtended(
  { provider, newReader }: LogParts,
  { from = { tree_size: 0 }, to }: { from: Tree | undefined; to: Tree },
): Promise<LogPath> {
  if (from.tree_size === 0) return [];
  return provenConsistent(provider, newReader(), { from: from.tree_size, to: to.tree_size });
}
