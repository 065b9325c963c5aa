export type Labels = Readonly<Record<string, string | number>>;

/** Says what a histogram or a counter is. Labels come from closed lists: no tenant, no principal, no name that a caller chose. */
export type Instrument = { name: string; help: string };

/** Counts and measures. Nothing rests on it, and nothing it does can fail. */
export type Meter = {
  counter(instrument: Instrument): (labels: Labels, by?: number) => void;
  histogram(instrument: Instrument & { bounds: readonly number[] }): (value: number, labels: Labels) => void;
  /** Read when somebody asks. Null, or a rejection: nobody knows now, and nothing is told. */
  gauge(instrument: Instrument, read: () => number | null | Promise<number | null>): void;
  /** As a gauge, of what only rises. */
  total(instrument: Instrument, read: () => number): void;
};
