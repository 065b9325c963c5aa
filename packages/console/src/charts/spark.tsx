const size = { width: 84, height: 26 };

/** A line without axes. The number beside it has the same content, so screen readers skip the line. */
export function Spark({ counts, tone }: { counts: readonly number[]; tone: 'brand' | 'deny' | 'ask' }) {
  if (counts.length < 2) return null;
  const max = Math.max(...counts, 1) * 1.1;
  const points = counts.map((count, nth) => {
    const x = 1 + (nth / (counts.length - 1)) * (size.width - 4);
    return [x, size.height - 1 - (count / max) * (size.height - 3)].map((value) => value.toFixed(1)).join(',');
  });
  const [x, y] = (points.at(-1) ?? '0,0').split(',');
  return (
    <svg className={`spark spark-${tone}`} viewBox={`0 0 ${size.width} ${size.height}`} aria-hidden="true" {...size}>
      <polygon points={`1,${size.height} ${points.join(' ')} ${x},${size.height}`} />
      <polyline points={points.join(' ')} />
      <circle cx={x} cy={y} r="1.8" />
    </svg>
  );
}

/** Reduces counts to a few points. Each point is the sum of neighbouring counts. */
export function summed(counts: readonly number[], points = 16): number[] {
  const width = Math.max(1, Math.ceil(counts.length / points));
  const sums: number[] = [];
  counts.forEach((count, nth) => (sums[Math.floor(nth / width)] = (sums[Math.floor(nth / width)] ?? 0) + count));
  return sums;
}
