import type { PrincipalId, TenantId } from '@countersign/contracts';
import { inFlight, type IdempotencyClaim, type Log, type StoredAnswer } from '@countersign/service-kit';
import type { SealedDecision } from './sealed-decision.ts';

/** A call under an Idempotency-Key that the kernel performs. Its decision keeps the key; what came of it is kept beside. */
export type KeyedCall = {
  caller: { tenant: TenantId; principal: PrincipalId };
  route: string;
  claim: IdempotencyClaim;
  /** For how long after its decision the call may be on its way in a process that lives. */
  runningMsMax: number;
};

export type AnswerStore = {
  find(scope: string, claim: IdempotencyClaim): Promise<StoredAnswer | null>;
  keep(scope: string, claim: IdempotencyClaim, answer: StoredAnswer): Promise<void>;
  /** Takes back the key of one decision. */
  free(call: KeyedCall, decisionId: string): Promise<void>;
};

/** A keyed call goes on to its end without its caller, who will come back for the answer. */
export const neverAborted: AbortSignal = new AbortController().signal;

/** `unjudged`: an answer that is not released yet. */
type Part = 'answer' | 'unjudged';

type KeptAnswersParts = { store: AnswerStore; clock: () => Date };
type Held = { call: KeyedCall; part: Part; answer: StoredAnswer };

/**
 * The answers of keyed calls. A key is decided once and its call sent at most once, even after a crash. A repeated
 * request gets the answer, or learns that it is still coming, or unknown.
 *
 * An answer that cannot be stored is held here: it was bought, and only this process has it.
 */
export class KeptAnswers {
  readonly #store: AnswerStore;
  readonly #clock: () => Date;
  readonly #held = new Map<string, Held>();
  readonly #judging = new Map<string, Promise<StoredAnswer>>();

  constructor({ store, clock }: KeptAnswersParts) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Never rejects: the call has been sent, and a store that is away must not turn its answer into an error. */
  keep(call: KeyedCall, answer: StoredAnswer, log: Log): Promise<void> {
    return this.#keep({ call, part: 'answer', answer }, log);
  }

  /** Like `keep`, for an answer that is not released before it is judged. */
  keepUnjudged(call: KeyedCall, bought: StoredAnswer, log: Log): Promise<void> {
    return this.#keep({ call, part: 'unjudged', answer: bought }, log);
  }

  async #keep(held: Held, log: Log): Promise<void> {
    const { call, part, answer } = held;
    const name = nameOf(call, part);
    this.#held.set(name, held);
    try {
      await this.#store.keep(scopeOf(call, part), call.claim, answer);
      this.#held.delete(name);
    } catch (error) {
      log.error('answer.not_kept', { route: call.route, error });
    }
  }

  /** Lets the key be decided and sent again, of a call that is known to have had no effect. Never rejects: at worst the key stays. */
  async free(call: KeyedCall, decision: SealedDecision, log: Log): Promise<void> {
    await this.#store
      .free(call, decision.reply.decision_id)
      .catch((error: unknown) => log.error('key.not_freed', { route: call.route, error }));
  }

  /**
   * The answer of a call that was decided before. `null` when its outcome is unknown. Throws IDEMPOTENCY_IN_FLIGHT
   * while it may still come.
   */
  async find(call: KeyedCall, { reply }: SealedDecision): Promise<StoredAnswer | null> {
    const kept = await this.#find(call, 'answer');
    if (kept !== null) return kept;
    const runsUntilMs = Date.parse(reply.receipt.payload.issued_at) + call.runningMsMax;
    if (this.#clock().getTime() < runsUntilMs) throw inFlight();
    return null;
  }

  /** The answer to a call that is not judged yet. Null: nothing, or it has been. */
  async findUnjudged(call: KeyedCall): Promise<StoredAnswer | null> {
    if ((await this.#find(call, 'answer')) !== null) return null;
    return await this.#find(call, 'unjudged');
  }

  /** If several requests of this process come back at once, one has the answer judged, and all of them get it. */
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

  /** Tries again to store what is held. Never rejects. */
  async storeHeld(log: Log): Promise<void> {
    await Promise.all([...this.#held.values()].map((held) => this.#keep(held, log)));
  }

  async #find(call: KeyedCall, part: Part): Promise<StoredAnswer | null> {
    return this.#held.get(nameOf(call, part))?.answer ?? (await this.#store.find(scopeOf(call, part), call.claim));
  }
}

/** Beside the decision, which keeps the key itself under the bare operation. */
function scopeOf({ route, caller: { tenant, principal } }: KeyedCall, part: Part): string {
  return `${route} ${part} ${tenant}\n${principal}`;
}

function nameOf(call: KeyedCall, part: Part): string {
  return `${scopeOf(call, part)}\n${call.claim.key}\n${call.claim.fingerprint}`;
}
