import type { ExportedProof, HeadStatement, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

type Place = Pick<ExportedProof, 'log_index'> | undefined;
type Chain = Pick<ReceiptPayload, 'tenant_id' | 'session_id'>;

/**
 * The places of an export's receipts in the log, which only grows. A place is used once, a chain goes through the log
 * in one direction, and a statement comes after its subject. Each path is proven separately, so contradictions show
 * only between them.
 */
export class LogPlaces {
  readonly #taken = new Set<number>();
  /** The place of the last receipt of each chain. */
  readonly #last = new Map<string, number>();
  /** The last receipt in the head statement of each chain, and the place of that statement. */
  readonly #heads = new Map<string, { lamport_clock: number; place: number }>();
  #highest = -1;

  /**
   * Adds a head statement. Call it before the receipts of its chain are added. Throws {@link VerificationError}
   * `DUPLICATE`.
   */
  takeHead({ tenant_id, session_id, lamport_clock }: Pick<HeadStatement, 'lamport_clock'> & Chain, at: Place): void {
    if (at === undefined) return;
    this.#claim(at.log_index);
    this.#heads.set(nameOf({ tenant_id, session_id }), { lamport_clock, place: at.log_index });
  }

  /**
   * Adds a receipt, which is the next one of its chain. Throws {@link VerificationError} `DUPLICATE`, `TIME_MISMATCH`.
   */
  take({ tenant_id, session_id, lamport_clock }: ReceiptPayload, at: Place): void {
    if (at === undefined) return;
    const { log_index: place } = at;
    this.#claim(place);
    const chain = nameOf({ tenant_id, session_id });
    const [before = -1, head] = [this.#last.get(chain), this.#heads.get(chain)];
    if (place < before)
      throw new VerificationError(
        'TIME_MISMATCH',
        `the receipt at place ${place} of the log comes before its predecessor in the log`,
      );
    if (head !== undefined && lamport_clock <= head.lamport_clock && place > head.place)
      throw new VerificationError(
        'TIME_MISMATCH',
        `the receipt at place ${place} of the log comes after the head statement that covers it`,
      );
    this.#last.set(chain, place);
    this.#highest = Math.max(this.#highest, place);
  }

  /**
   * Checks that all receipts of a period are within the log of its statement. Throws {@link VerificationError}
   * `PERIOD_MISMATCH`.
   */
  assertWithin(logSize: number): void {
    if (this.#highest >= logSize)
      throw new VerificationError(
        'PERIOD_MISMATCH',
        `a receipt is at place ${this.#highest} of the log, but the statement covers only the first ${logSize} places`,
      );
  }

  #claim(place: number): void {
    if (this.#taken.has(place)) throw new VerificationError('DUPLICATE', `place ${place} of the log has two receipts`);
    this.#taken.add(place);
  }
}

function nameOf({ tenant_id, session_id }: Chain): string {
  return JSON.stringify([tenant_id, session_id]);
}
