import { AppError, type Instant } from '@countersign/contracts';
import { ClockGuard, type ClockGuardParts } from '@countersign/service-kit';
import type { ChainHead } from './statement.ts';

/** `clock` is what the kernel uses. It is the machine's clock, unless a test moves it. */
type Parts = Omit<ClockGuardParts, 'refusal'> & { clock: () => Date };

/** Chains that grow, with the ends that they had and get. */
type Grown = { readonly from: Pick<ChainHead, 'issuedAt'>; readonly to: Pick<ChainHead, 'issuedAt'> };

/** Lets a kernel sign nothing while its clock is far from the database's. */
export class LedgerClockGuard extends ClockGuard {
  readonly #clock: () => Date;

  constructor({ clock, ...parts }: Parts) {
    super({ ...parts, refusal: nothingSealed });
    this.#clock = clock;
  }

  /**
   * The instant that the database is to compare with its clock before these chains grow. It is the kernel's clock, or
   * the latest instant to which a chain is moved, which a clock that has been corrected since may have shown. A chain
   * that ended ahead already stays as it is, and goes on. Otherwise a wrong end would stop a session, or the fences and
   * policies of a tenant, for as long as that clock was ahead. Its export verifies once that time has come, with what
   * is added or without.
   */
  datedMs(chains: readonly Grown[]): number {
    const moved = chains.flatMap(({ from, to }) => (to.issuedAt === from.issuedAt ? [] : [msOf(to.issuedAt)]));
    const aheadMs = Math.max(0, ...moved.map((ms) => ms - this.#clock().getTime()));
    return this.nowMs() + aheadMs;
  }
}

function nothingSealed(distance: string): AppError {
  const problem = `The clock of this kernel is ${distance}, so nothing is sealed, and nothing was executed`;
  return new AppError('RECEIPT_STORE_UNAVAILABLE', problem);
}

function msOf(instant: Instant | null): number {
  return instant === null ? Number.NEGATIVE_INFINITY : Date.parse(instant);
}
