/** The result of one window of load. */
export type Measured = {
  answers: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of the measured processes per answer. `null` where there is no process, or the platform does not report it. */
  cpuMicros: number | null;
  /**
   * The share of one core that the load generator used. `null` where there is none, or the platform does not report it.
   */
  generatorBusy: number | null;
  /** The largest resident size of the measured process in MiB. Absent where it is not measured. */
  peakMib?: number;
  /** The share of an outcome, from 0 to 1. Absent where none is measured. */
  share?: number;
};
