/** The result of one window of load. */
export type Measured = {
  answers: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU of the measured processes per answer; null where there is no process, or the platform does not tell. */
  cpuMicros: number | null;
  /** How much of one core the load generator used; null where there is none, or the platform does not tell. */
  generatorBusy: number | null;
};
