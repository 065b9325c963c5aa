export type Labels = Readonly<Record<string, string | number>>;

/** Says what a histogram or a counter is. Labels come from closed lists: no tenant, no principal, no name that a caller chose. */
export type Instrument = { name: string; help: string };

/** Counts and measures. Nothing rests on it, and nothing it does can fail. */
export type Meter = {
  counter(instrument: Instrument): (labels: Labels, by?: number) => void;
  histogram(instrument: Instrument & { bounds: readonly number[] }): (value: number, labels: Labels) => void;
  /** Read at each collection. `null` or a rejection when the value is unknown; then nothing is reported. */
  gauge(instrument: Instrument, read: () => number | null | Promise<number | null>): void;
  /** Like a gauge, for values that only rise. */
  total(instrument: Instrument, read: () => number): void;
};
