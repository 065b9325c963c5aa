export type Labels = Readonly<Record<string, string | number>>;

/**
 * Describes a histogram or a counter. Labels come from closed lists: no tenant, no principal, no caller-chosen name.
 */
export type Instrument = { name: string; help: string };

/** Counts and measures. No logic depends on it, and it never fails. */
export type Meter = {
  counter(instrument: Instrument): (labels: Labels, by?: number) => void;
  histogram(instrument: Instrument & { bounds: readonly number[] }): (value: number, labels: Labels) => void;
  /** `read` is called at each collection. Nothing is reported for `null` or a rejection, since the value is unknown. */
  gauge(instrument: Instrument, read: () => number | null | Promise<number | null>): void;
  /** Like a gauge, for values that only increase. */
  total(instrument: Instrument, read: () => number): void;
};
