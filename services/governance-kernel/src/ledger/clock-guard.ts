import { AppError, type Instant } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { clockSkewMaxMs, sureSkewMs, type ClockReading } from './clock-skew.ts';
import type { ChainHead } from './statement.ts';

type Parts = {
  /** What the kernel goes by. */
  clock: () => Date;
  /** What is held against the database's clock. It is the same one, unless a test moves the time that the kernel goes by. */
  machineClock: () => Date;
  readDatabaseMs(): Promise<number>;
  log: Log;
};

/** Chains that grow, with the ends that they had and get. */
type Grown = { readonly from: Pick<ChainHead, 'issuedAt'>; readonly to: Pick<ChainHead, 'issuedAt'> };

/** Lets a kernel sign nothing while its clock is far from the database's. What it finds is told once, until that changes. */
export class ClockGuard {
  readonly #parts: Parts;
  #isFar = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  nowMs(): number {
    return this.#parts.machineClock().getTime();
  }

  /**
   * What the database is to hold against its clock before these chains grow: the kernel's clock, or the latest instant to which a chain
   * is moved, which a clock that has been put right meanwhile may have shown. A chain that ended ahead already stays as it is, and goes
   * on: an end that a wrong clock has left would else stop a session, or the fences and policies of a tenant, for as long as that clock
   * was ahead. Its export verifies once that time has come, with what is added or without.
   */
  datedMs(chains: readonly Grown[]): number {
    const moved = chains.flatMap(({ from, to }) => (to.issuedAt === from.issuedAt ? [] : [msOf(to.issuedAt)]));
    const aheadMs = Math.max(0, ...moved.map((ms) => ms - this.#parts.clock().getTime()));
    return this.nowMs() + aheadMs;
  }

  /** Reads the database's clock. Throws RECEIPT_STORE_UNAVAILABLE where the kernel's is far from it. */
  async assertNear(): Promise<void> {
    const beforeMs = this.nowMs();
    const databaseMs = await this.#parts.readDatabaseMs();
    this.assertNearIn({ beforeMs, databaseMs, afterMs: this.nowMs() });
  }

  /** Throws RECEIPT_STORE_UNAVAILABLE where a reading shows that the clock is far off. */
  assertNearIn(reading: ClockReading): void {
    const skewMs = sureSkewMs(reading);
    if (Math.abs(skewMs) <= clockSkewMaxMs) return this.noteNear();
    if (!this.#isFar) this.#parts.log.error('clock.far_off', { skew_ms: skewMs, skew_ms_max: clockSkewMaxMs });
    this.#isFar = true;
    throw new AppError('RECEIPT_STORE_UNAVAILABLE', problemOf(skewMs));
  }

  /** The database has found the kernel's clock near. */
  noteNear(): void {
    if (this.#isFar) this.#parts.log.info('clock.near_again');
    this.#isFar = false;
  }
}

function problemOf(skewMs: number): string {
  const distance = `${Math.round(Math.abs(skewMs) / 1_000)} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's`;
  return `The clock of this kernel is ${distance}, so nothing is sealed, and nothing was executed`;
}

function msOf(instant: Instant | null): number {
  return instant === null ? Number.NEGATIVE_INFINITY : Date.parse(instant);
}
