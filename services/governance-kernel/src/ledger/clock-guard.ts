import { AppError, type Instant } from '@countersign/contracts';
import { ClockGuard, type ClockGuardDeps } from '@countersign/service-kit';
import type { ChainHead } from './statement.ts';

/** `clock` is the machine's clock, unless a test replaces it. */
type Deps = Omit<ClockGuardDeps, 'refusal'> & { clock: () => Date };

/** Chains that grow, with their old and new ends. */
type Grown = { readonly from: Pick<ChainHead, 'issuedAt'>; readonly to: Pick<ChainHead, 'issuedAt'> };

/** Stops a kernel from signing while its clock differs much from the clock of the database. */
export class LedgerClockGuard extends ClockGuard {
  readonly #clock: () => Date;

  constructor({ clock, ...segments }: Deps) {
    super({ ...segments, refusal: nothingSealed });
    this.#clock = clock;
  }

  /**
   * The instant that the database compares with its clock before these chains grow. It is the kernel's time, or a later
   * instant to which one of these chains moves, if the clock was corrected after the entry was dated. A chain whose end
   * is already ahead keeps that instant and continues. Otherwise one wrong end would stop a session, or the fences and
   * policies of a tenant, until that time. An export of such a chain verifies only after that time.
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
