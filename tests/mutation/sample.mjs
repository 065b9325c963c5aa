import { createHash } from 'node:crypto';

/** A random sample of `size` mutants. The same seed returns the same sample while the sources are unchanged. */
export function sampleOf(mutants, { size, seed }) {
  const rank = ({ key }) => createHash('sha256').update(`${seed} ${key}`).digest('hex');
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  return ranked
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}
