import { createHash } from 'node:crypto';

/** `size` of the mutants, each as likely as any other; the same seed names the same ones as long as their sources stay. */
export function sampleOf(mutants, { size, seed }) {
  const rank = ({ key }) => createHash('sha256').update(`${seed} ${key}`).digest('hex');
  const ranked = mutants.map((mutant) => ({ mutant, rank: rank(mutant) }));
  return ranked
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}
