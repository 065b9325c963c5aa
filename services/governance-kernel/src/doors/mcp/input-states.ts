import { randomUUID } from 'node:crypto';
import { sha256Of, type Digest, type PlainJson, type TenantId } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { z } from 'zod';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';

/** The longest time that a person may take to fill in a form. */
const stateMsMax = 600_000;
/**
 * The longest encrypted state that is accepted from a client. The state may be too long for a header, so the client
 * returns it in a body.
 */
const stateLengthMax = 65_536;

const State = z.strictObject({ state: z.string().nullable(), nonce: z.string(), expires_at_ms: z.int() });
type State = z.infer<typeof State>;

/** The call of a round. Another call, caller or session cannot continue it. */
export type Round = { tenant: TenantId; call: Record<string, PlainJson> };

/**
 * States of upstream servers on their way through the caller: encrypted, for one call of one caller, valid for ten
 * minutes.
 */
export class InputStates {
  readonly #cipher: ArgsCipher;
  readonly #nowMs: () => number;

  constructor(cipher: ArgsCipher, nowMs: () => number) {
    this.#cipher = cipher;
    this.#nowMs = nowMs;
  }

  seal(round: Round, state: string | null): string {
    const content = { state, nonce: randomUUID(), expires_at_ms: this.#nowMs() + stateMsMax };
    return this.#cipher.encrypt(placeOf(round), content);
  }

  /** `null` when the text was not sealed for this call, or has expired. */
  open(round: Round, sealed: string): State | null {
    if (sealed.length > stateLengthMax) return null;
    const { data } = State.safeParse(this.#cipher.decrypt(placeOf(round), sealed));
    return data !== undefined && this.#nowMs() < data.expires_at_ms ? data : null;
  }
}

/**
 * Identifies the answers of a round in a receipt. Only the kernel knows the nonce, so short answers cannot be guessed
 * from the digest.
 */
export function inputDigest(responses: Record<string, PlainJson>, { state, nonce }: State): Digest {
  return digest({ responses, state, nonce });
}

function placeOf({ tenant, call }: Round) {
  return { tenant, id: 'mcp-input', argsHash: digest(call) };
}

function digest(value: PlainJson): Digest {
  return sha256Of(nodeProvider, canonicalBytes(value));
}
