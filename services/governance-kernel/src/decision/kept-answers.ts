import type { PrincipalId, TenantId } from '@countersign/contracts';
import { inFlight, type IdempotencyClaim, type Log, type StoredAnswer } from '@countersign/service-kit';
import type { SealedDecision } from './sealed-decision.ts';

/**
 * A call with an Idempotency-Key that the kernel performs. The decision stores the key, and the answer is stored
 * separately.
 */
export type KeyedCall = {
  caller: { tenant: TenantId; principal: PrincipalId };
  route: string;
  claim: IdempotencyClaim;
  /** The longest time after its decision that the call may be in progress in a live process. */
  runningMsMax: number;
};

export type AnswerStore = {
  find(scope: string, claim: IdempotencyClaim): Promise<StoredAnswer | null>;
  keep(scope: string, claim: IdempotencyClaim, answer: StoredAnswer): Promise<void>;
  /** Releases the key of one decision. */
  free(call: KeyedCall, decisionId: string): Promise<void>;
};

/** A keyed call runs to its end even if its caller disconnects, since the caller may return for the answer. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** `unjudged`: an answer that is not released yet. */
type Section = 'answer' | 'unjudged';

type KeptAnswersDeps = { store: AnswerStore; clock: () => Date };
type WaitingAnswer = { call: KeyedCall; section: Section; answer: StoredAnswer };

/**
 * The answers of keyed calls. A key is decided once and its call sent at most once, even after a crash. A repeated
 * request gets the answer, or an error that the answer is pending or unknown. An answer that cannot be stored is kept
 * in memory, since it was paid for and only this process has it.
 */
export class KeptAnswers {
  readonly #store: AnswerStore;
  readonly #clock: () => Date;
  readonly #waiting = new Map<string, WaitingAnswer>();
  readonly #judging = new Map<string, Promise<StoredAnswer>>();

  constructor({ store, clock }: KeptAnswersDeps) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Never rejects: the call has been sent, and an unavailable store must not turn its answer into an error. */
  keep(call: KeyedCall, answer: StoredAnswer, log: Log): Promise<void> {
    return this.#keep({ call, section: 'answer', answer }, log);
  }

  /** Like `keep`, for an answer that must be judged before its release. */
  keepUnjudged(call: KeyedCall, bought: StoredAnswer, log: Log): Promise<void> {
    return this.#keep({ call, section: 'unjudged', answer: bought }, log);
  }

  async #keep(waiting: WaitingAnswer, log: Log): Promise<void> {
    const { call, section: segment, answer } = waiting;
    const name = nameOf(call, segment);
    this.#waiting.set(name, waiting);
    try {
      await this.#store.keep(scopeOf(call, segment), call.claim, answer);
      this.#waiting.delete(name);
    } catch (error) {
      log.error('answer.not_kept', { route: call.route, error });
    }
  }

  /**
   * Releases the key of a call that is known to have had no effect, so that it can be decided and sent again. Never
   * rejects: at worst the key stays.
   */
  async free(call: KeyedCall, decision: SealedDecision, log: Log): Promise<void> {
    await this.#store
      .free(call, decision.reply.decision_id)
      .catch((error: unknown) => log.error('key.not_freed', { route: call.route, error }));
  }

  /**
   * The answer of a call that was decided before. `null` when its outcome is unknown. Throws IDEMPOTENCY_IN_FLIGHT
   * while the call may still be running.
   */
  async find(call: KeyedCall, { reply }: SealedDecision): Promise<StoredAnswer | null> {
    const kept = await this.#find(call, 'answer');
    if (kept !== null) return kept;
    const runsUntilMs = Date.parse(reply.receipt.payload.issued_at) + call.runningMsMax;
    if (this.#clock().getTime() < runsUntilMs) throw inFlight();
    return null;
  }

  /** The unjudged answer of a call. `null` when there is none, or it has been judged. */
  async findUnjudged(call: KeyedCall): Promise<StoredAnswer | null> {
    if ((await this.#find(call, 'answer')) !== null) return null;
    return await this.#find(call, 'unjudged');
  }

  /** If several requests of this process return at once, one of them judges the answer, and all get it. */
  async judgeOnce(call: KeyedCall, judge: () => Promise<StoredAnswer>): Promise<StoredAnswer> {
    const name = nameOf(call, 'unjudged');
    const judging = this.#judging.get(name) ?? this.#find(call, 'answer').then((kept) => kept ?? judge());
    this.#judging.set(name, judging);
    try {
      return await judging;
    } finally {
      this.#judging.delete(name);
    }
  }

  /** Tries again to store the answers that could not be stored. Never rejects. */
  async storeHeld(log: Log): Promise<void> {
    await Promise.all([...this.#waiting.values()].map((waiting) => this.#keep(waiting, log)));
  }

  async #find(call: KeyedCall, section: Section): Promise<StoredAnswer | null> {
    return (
      this.#waiting.get(nameOf(call, section))?.answer ?? (await this.#store.find(scopeOf(call, section), call.claim))
    );
  }
}

/** The scope differs from that of the decision, which stores the key under the bare route. */
function scopeOf({ route, caller: { tenant, principal } }: KeyedCall, section: Section): string {
  return `${route} ${section} ${tenant}\n${principal}`;
}

function nameOf(call: KeyedCall, section: Section): string {
  return `${scopeOf(call, section)}\n${call.claim.key}\n${call.claim.fingerprint}`;
}
