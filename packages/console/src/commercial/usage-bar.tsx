import { percentOf, quantityOf } from './amounts.ts';

type Props = { name: string; used: string; limit: number; of: string; says: string };

/** The bar is amber from the first percentage, and red from the second. */
const fullPercents = { soon: 75, nearly: 90 } as const;

/** A limit with its use, as a bar and in words. */
export function UsageBar({ name, used, limit, of, says }: Props) {
  const percent = limit === 0 ? 100 : percentOf(used, limit);
  const tone = toneOf(percent);
  return (
    <li className="meter">
      <p className="meter-head">
        <strong>{name}</strong>
        <span>
          <strong>{quantityOf(used)}</strong> <span className="quiet">{of}</span>
        </span>
      </p>
      <progress className={`bar bar-${tone}`} aria-label={`${name}: ${percent}% used`} max={100} value={percent} />
      <p className="quiet">{says}</p>
    </li>
  );
}

/** A count without a limit. */
export function UsageCount({ name, value, says }: { name: string; value: string; says: string }) {
  return (
    <li className="meter">
      <p className="meter-head">
        <strong>{name}</strong>
        <strong>{value}</strong>
      </p>
      <p className="quiet">{says}</p>
    </li>
  );
}

function toneOf(percent: number): 'bad' | 'wait' | 'calm' {
  if (percent >= fullPercents.nearly) return 'bad';
  return percent >= fullPercents.soon ? 'wait' : 'calm';
}
