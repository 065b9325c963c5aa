import { randomUUID } from 'node:crypto';
import { sha256Of } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { z } from 'zod';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';
import { ended, outcomeOf, type ClientResponse, type Outcome } from './answer.ts';
import type { Notice, Notices } from './notices.ts';
import type { ClientSession } from './session-tokens.ts';

type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;

type QuestionsDeps = {
  cipher: ArgsCipher;
  notices: Pick<Notices, 'listen' | 'send'>;
  /** The name of this kernel in the ids of its questions. */
  kernel: string;
  nowMs: () => number;
  /** How long a client may take to answer. */
  waitMs: number;
};

type Ask = {
  signal: AbortSignal;
  /** Sends the question under this id. */
  send(id: string): Promise<void>;
};

/** Time for a person to fill in a form. A waiting call holds a connection. */
export const answerMsMax = 300_000;
/** Open questions of one kernel. Each holds a connection of its client. */
const openQuestionsMax = 256;
/** A tenant can create any number of principals, so the questions of a tenant are limited too. */
const tenantQuestionsMax = 128;
/** One person cannot answer more forms at once. One caller must not use up the kernel's questions. */
const principalQuestionsMax = 16;
/** Ids of answers that this kernel passed on, so that a repeated answer is passed on once. */
const passedOnMax = 1_024;
/** The length of an id is about 250. */
const idLengthMax = 512;

const Id = z.strictObject({ kernel: z.string(), nonce: z.string(), expires_at_ms: z.int() });
type Open = { owner: Owner; end(outcome: Outcome): void };

/**
 * The questions that this kernel sent to its clients. The id of a question is encrypted for its session, so an id that
 * was guessed, or belongs to another session, is ignored.
 */
export class Questions {
  readonly #deps: QuestionsDeps;
  readonly #open = new Map<string, Open>();
  readonly #passedOn = new Set<string>();
  #isClosing = false;

  constructor(deps: QuestionsDeps) {
    this.#deps = deps;
  }

  /** Sends a question, and waits for its answer for a limited time. Rejects when `signal` is aborted. */
  async ask(owner: Owner, { signal, send }: Ask): Promise<Outcome> {
    if (this.#isClosing) return ended('The kernel is stopping.');
    if (!this.#hasRoom(owner)) return ended('Too many questions are open. Answer them first.');
    const id = this.#idFor(owner);
    const { outcome, stop } = this.#expect(id, owner);
    try {
      await this.#deps.notices.listen();
      signal.throwIfAborted();
      const aborted = untilAborted(signal);
      await send(id);
      return await Promise.race([outcome, aborted]);
    } finally {
      stop();
    }
  }

  /**
   * Accepts a response of a client. A response to an unknown, foreign or ended question has no effect. Rejects when the
   * answer cannot be passed on to the kernel that waits for it.
   */
  async answer(owner: Owner, response: ClientResponse): Promise<void> {
    const id = String(response.id);
    const asker = this.#askerOf(owner, id);
    if (asker === null) return;
    const outcome = outcomeOf(response);
    if (asker === this.#deps.kernel) return this.#end(id, owner, outcome);
    if (this.#passedOn.has(id)) return;
    const { tenant, principal, id: session } = owner;
    await this.#deps.notices.send({ kind: 'answer', tenant, principal, session, to: asker, question: id, outcome });
    const [oldest] = this.#passedOn;
    if (this.#passedOn.size >= passedOnMax && oldest !== undefined) this.#passedOn.delete(oldest);
    this.#passedOn.add(id);
  }

  /** Accepts an answer that another kernel received. */
  receive({ to, question, outcome, tenant, principal, session: id }: Extract<Notice, { kind: 'answer' }>): void {
    if (to === this.#deps.kernel) this.#end(question, { tenant, principal, id }, outcome);
  }

  /** Ends all questions. Later questions end at once. */
  beginClose(): void {
    this.#isClosing = true;
    for (const { end } of this.#open.values()) end(ended('The kernel is stopping.'));
  }

  #hasRoom(owner: Owner): boolean {
    if (this.#open.size >= openQuestionsMax) return false;
    const ofTenant = [...this.#open.values()].filter(({ owner: { tenant } }) => tenant === owner.tenant);
    const own = ofTenant.filter(({ owner: { principal } }) => principal === owner.principal);
    return ofTenant.length < tenantQuestionsMax && own.length < principalQuestionsMax;
  }

  #expect(id: string, owner: Owner): { outcome: Promise<Outcome>; stop(): void } {
    const { waitMs } = this.#deps;
    let end: (outcome: Outcome) => void = () => undefined;
    const outcome = new Promise<Outcome>((resolve) => {
      end = resolve;
    });
    this.#open.set(id, { owner, end });
    const timer = setTimeout(() => end(ended('The client did not answer the question in time.')), waitMs).unref();
    const stop = () => {
      clearTimeout(timer);
      this.#open.delete(id);
    };
    return { outcome, stop };
  }

  #end(id: string, by: Owner, outcome: Outcome): void {
    const open = this.#open.get(id);
    if (open === undefined || !isSame(open.owner, by)) return;
    open.end(outcome);
  }

  #idFor(owner: Owner): string {
    const { cipher, kernel, nowMs, waitMs } = this.#deps;
    const content = { kernel, nonce: randomUUID(), expires_at_ms: nowMs() + waitMs };
    return Buffer.from(cipher.encrypt(placeOf(owner), content), 'base64').toString('base64url');
  }

  /** The kernel that asked this owner. `null` for any other id, and for a question whose time has passed. */
  #askerOf(owner: Owner, id: string): string | null {
    if (id.length > idLengthMax) return null;
    // Decoding ignores padding and foreign characters, and another spelling of an id would be passed on again.
    if (Buffer.from(id, 'base64url').toString('base64url') !== id) return null;
    const { data } = Id.safeParse(this.#deps.cipher.decrypt(placeOf(owner), id));
    return data !== undefined && this.#deps.nowMs() < data.expires_at_ms ? data.kernel : null;
  }
}

function isSame(left: Owner, right: Owner): boolean {
  return left.tenant === right.tenant && left.principal === right.principal && left.id === right.id;
}

function placeOf({ tenant, principal, id: session }: Owner) {
  return { tenant, id: 'mcp-question', argsHash: sha256Of(nodeProvider, canonicalBytes({ principal, session })) };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('The caller has gone')), { once: true });
  });
  aborted.catch(() => undefined); // the signal may abort before or after the wait
  return aborted;
}
