import type { ExportedProof, HeadStatement, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { VerificationError } from './verification-error.ts';

type Place = Pick<ExportedProof, 'log_index'> | undefined;
type Chain = Pick<ReceiptPayload, 'tenant_id' | 'session_id'>;

/**
 * The places of an export's receipts in the log, which only grows. A place is used once, a chain goes through the log
 * in one direction, and a statement comes after its subject. Each path is proven by itself, so only together can they
 * contradict each other.
 */
export class LogPlaces {
  readonly #taken = new Set<number>();
  /** The place of the last receipt of each chain. */
  readonly #last = new Map<string, number>();
  /** The last receipt in the head statement of each chain, and the place of that statement. */
  readonly #heads = new Map<string, { lamport_clock: number; place: number }>();
  #highest = -1;

  /** A head statement, to be told before its chain. Throws {@link VerificationError} `DUPLICATE`. */
  takeHead({ tenant_id, session_id, lamport_clock }: Pick<HeadStatement, 'lamport_clock'> & Chain, at: Place): void {
    if (at === undefined) return;
    this.#claim(at.log_index);
    this.#heads.set(nameOf({ tenant_id, session_id }), { lamport_clock, place: at.log_index });
  }

  /** The next receipt of its chain. Throws {@link VerificationError} `DUPLICATE`, `TIME_MISMATCH`. */
  take({ tenant_id, session_id, lamport_clock }: ReceiptPayload, at: Place): void {
    if (at === undefined) return;
    const { log_index: place } = at;
    this.#claim(place);
    const chain = nameOf({ tenant_id, session_id });
    const [before = -1, head] = [this.#last.get(chain), this.#heads.get(chain)];
    if (place < before)
      throw new VerificationError('TIME_MISMATCH', `place ${place} of the log lies before that of its predecessor`);
    if (head !== undefined && lamport_clock <= head.lamport_clock && place > head.place)
      throw new VerificationError('TIME_MISMATCH', `place ${place} of the log lies behind the head that speaks of it`);
    this.#last.set(chain, place);
    this.#highest = Math.max(this.#highest, place);
  }

  /**
   * All receipts of a period are within the log of its statement. Throws {@link VerificationError} `PERIOD_MISMATCH`.
   */
  assertWithin(logSize: number): void {
    if (this.#highest >= logSize)
      throw new VerificationError(
        'PERIOD_MISMATCH',
        `a receipt stands at place ${this.#highest}, and the statement is about the first ${logSize}`,
      );
  }

  #claim(place: number): void {
    if (this.#taken.has(place)) throw new VerificationError('DUPLICATE', `place ${place} of the log is taken twice`);
    this.#taken.add(place);
  }
}

function nameOf({ tenant_id, session_id }: Chain): string {
  return JSON.stringify([tenant_id, session_id]);
}
