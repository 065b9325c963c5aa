import { Button } from '@mantine/core';
import { useId, useState, type KeyboardEvent, type MouseEvent } from 'react';
import { axisTicks } from './axis-ticks.ts';

export type ChartSeries = { key: string; name: string; fill: 'allow' | 'ask' | 'deny'; counts: readonly number[] };

type Props = {
  /** The whole chart in one sentence. */
  sentence: string;
  /** The name of each bucket. */
  names: readonly string[];
  /** At most five series, from the bottom to the top of each column. */
  series: readonly ChartSeries[];
  /** Opens the calls of a bucket. */
  onOpen: (bucket: number) => void;
  low?: boolean;
};

const whole = new Intl.NumberFormat('en-GB');
const height = 100;

/**
 * Stacked counts of each bucket. Arrow keys move between buckets, and Enter opens one. The last bucket is incomplete,
 * so it is lighter.
 */
export function Columns({ sentence, names, series, onOpen, low = false }: Props) {
  const [isTable, showTable] = useState(false);
  return (
    <div className={low ? 'chart chart-low' : 'chart'}>
      <div className="chart-head">
        <ul className="legend" aria-hidden="true">
          {[...series].reverse().map(({ key, name, fill }) => (
            <li key={key}>
              <svg className="swatch" viewBox="0 0 1 1">
                <rect className={`fill-${fill}`} width="1" height="1" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
        <Button size="compact-xs" variant="subtle" onClick={() => showTable(!isTable)}>
          {isTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </div>
      {isTable ? <AsTable {...{ names, series, sentence }} /> : <AsColumns {...{ sentence, names, series, onOpen }} />}
    </div>
  );
}

function AsColumns({ sentence, names, series, onOpen }: Omit<Props, 'low'>) {
  const [picked, pick] = useState<number | null>(null);
  const text = useId();
  const totals = names.map((_, nth) => series.reduce((sum, { counts }) => sum + (counts[nth] ?? 0), 0));
  const ticks = axisTicks(Math.max(...totals, 1));
  const max = ticks.at(-1) ?? 1;
  const last = names.length - 1;
  const at = picked ?? last;
  const inWords = wordsOf(at, { names, series });
  const act = (event: KeyboardEvent) => {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last }[event.key];
    if (event.key === 'Enter') onOpen(at);
    else if (next !== undefined) pick(Math.min(last, Math.max(0, next)));
    else return;
    event.preventDefault();
  };
  const point = ({ clientX, currentTarget }: MouseEvent) => {
    const { left, width } = currentTarget.getBoundingClientRect();
    pick(Math.min(last, Math.max(0, Math.floor(((clientX - left) / width) * names.length))));
  };
  return (
    <>
      <div className="plot">
        <YAxis ticks={ticks} />
        <div
          className="plot-area"
          role="slider"
          tabIndex={0}
          aria-label={sentence}
          aria-describedby={text}
          aria-valuemin={0}
          aria-valuemax={last}
          aria-valuenow={at}
          aria-valuetext={inWords}
          onKeyDown={act}
          onMouseMove={point}
          onMouseLeave={() => pick(null)}
          onClick={() => onOpen(at)}
        >
          <svg viewBox={`0 0 ${names.length} ${height}`} preserveAspectRatio="none" aria-hidden="true">
            {ticks.map((tick) => (
              <line key={tick} className="grid-line" x2={names.length} y1={yOf(tick / max)} y2={yOf(tick / max)} />
            ))}
            {picked !== null && <rect className="picked" x={picked} width="1" height={height} />}
            {names.map((_, nth) => (
              <Column key={nth} nth={nth} max={max} series={series} isLast={nth === last} />
            ))}
          </svg>
        </div>
        <XAxis names={names} />
      </div>
      <p className="chart-said quiet" id={text}>
        {picked === null ? sentence : `${inWords}. Enter or a click opens these calls.`}
      </p>
    </>
  );
}

function YAxis({ ticks }: { ticks: readonly number[] }) {
  return (
    <ol className="plot-y" aria-hidden="true">
      {[...ticks].reverse().map((tick) => (
        <li key={tick}>{whole.format(tick)}</li>
      ))}
    </ol>
  );
}

function XAxis({ names }: Pick<Props, 'names'>) {
  const last = names.length - 1;
  return (
    <ol className="plot-x" aria-hidden="true">
      {[...new Set([0, Math.round(last / 3), Math.round((last * 2) / 3)])].map((nth) => (
        <li key={nth}>{names[nth]}</li>
      ))}
      <li>now</li>
    </ol>
  );
}

const yOf = (share: number) => height - share * (height - 4);

function Column({ nth, max, series, isLast }: { nth: number; max: number; series: Props['series']; isLast: boolean }) {
  let reached = 0;
  const pieces = series.map(({ key, fill, counts }) => {
    const from = reached;
    reached += counts[nth] ?? 0;
    return { key, fill, top: yOf(reached / max), bottom: yOf(from / max) };
  });
  return (
    <g className={isLast ? 'so-far' : undefined}>
      {pieces.map(({ key, fill, top, bottom }) =>
        bottom === top ? null : (
          <rect key={key} className={`piece fill-${fill}`} x={nth + 0.08} width="0.84" y={top} height={bottom - top} />
        ),
      )}
    </g>
  );
}

function wordsOf(nth: number, { names, series }: Pick<Props, 'names' | 'series'>): string {
  const counts = series.map(({ name, counts: of }) => `${whole.format(of[nth] ?? 0)} ${name.toLowerCase()}`);
  return `${names[nth]}: ${counts.join(', ')}`;
}

function AsTable({ sentence, names, series }: Pick<Props, 'sentence' | 'names' | 'series'>) {
  return (
    <div className="table-box chart-table" tabIndex={0} role="region" aria-label={sentence}>
      <table>
        <thead>
          <tr>
            <th>From</th>
            {series.map(({ key, name }) => (
              <th key={key} className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {names.map((name, nth) => (
            <tr key={nth}>
              <td>{name}</td>
              {series.map(({ key, counts }) => (
                <td key={key} className="number">
                  {whole.format(counts[nth] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
