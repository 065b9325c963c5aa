/** A change between two versions, over pairs of processes. */
export type Change = {
  /** The geometric mean of after over before. */
  value: number;
  /**
   * The smallest change, as a share, that these pairs tell from none: half of the 95 % confidence interval of the mean.
   */
  visible: number;
};

/** Two-sided quantiles of Student's t distribution at 95 %, by degrees of freedom from 1. */
const quantiles = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262];

/** Throws for fewer than two ratios and for more than ten. */
export function changeOf(ratios: readonly number[]): Change {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const quantile = quantiles[logs.length - 2];
  if (quantile === undefined) throw new RangeError('A change needs between two and ten pairs');
  const variance = logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / (logs.length - 1);
  const halfWidth = quantile * Math.sqrt(variance / logs.length);
  return { value: Math.exp(mean), visible: Math.exp(halfWidth) - 1 };
}
