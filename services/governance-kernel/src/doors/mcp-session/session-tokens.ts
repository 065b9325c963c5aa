import { randomUUID } from 'node:crypto';
import { sha256Of, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { z } from 'zod';
import type { ArgsCipher } from '../../controls/approvals/args-cipher.ts';

/** The owner of a session. Only requests with its tenant and principal belong to the session. */
export type SessionOwner = { tenant: TenantId; principal: PrincipalId };

/** The facts about a client of 2025-11-25 that the kernel needs between requests of the client. */
export type ClientSession = SessionOwner & {
  id: string;
  /** The elicitation modes that the client declared. `null` for none. */
  elicitation: { form?: object | undefined; url?: object | undefined } | null;
  expiresAtMs: number;
};

/**
 * Some clients run for weeks, and do not initialize again after a 404. A stolen token is of no use without the credential
 * of its owner.
 */
const sessionMsMax = 2_592_000_000;
/** Four times the length of a token. */
const tokenLengthMax = 2_048;

const Mode = z.strictObject({}).optional();
const Content = z.strictObject({
  id: z.uuid(),
  elicitation: z.strictObject({ form: Mode, url: Mode }).nullable(),
  expires_at_ms: z.int(),
});

/**
 * Issues and opens the values of `Mcp-Session-Id`. A token is encrypted and authenticated for its tenant and principal,
 * and every kernel with the same secret accepts it.
 */
export class SessionTokens {
  readonly #cipher: ArgsCipher;
  readonly #nowMs: () => number;

  constructor(cipher: ArgsCipher, nowMs: () => number) {
    this.#cipher = cipher;
    this.#nowMs = nowMs;
  }

  /** `capabilities` are those of an `initialize` request, which is attacker-controlled. */
  issue(owner: SessionOwner, capabilities: unknown): string {
    const elicitation = declaredElicitation(capabilities);
    const content = { id: randomUUID(), elicitation, expires_at_ms: this.#nowMs() + sessionMsMax };
    return Buffer.from(this.#cipher.encrypt(placeOf(owner), content), 'base64').toString('base64url');
  }

  /** `null` when the token was not issued to this owner, or has expired. */
  open({ tenant, principal }: SessionOwner, token: string): ClientSession | null {
    if (token.length > tokenLengthMax) return null;
    const { data } = Content.safeParse(this.#cipher.decrypt(placeOf({ tenant, principal }), token));
    if (data === undefined || this.#nowMs() >= data.expires_at_ms) return null;
    return { tenant, principal, id: data.id, elicitation: data.elicitation, expiresAtMs: data.expires_at_ms };
  }
}

const Declared = z.looseObject({
  elicitation: z.looseObject({ form: z.looseObject({}).optional(), url: z.looseObject({}).optional() }),
});

/** An empty declaration means forms, by the protocol. */
function declaredElicitation(capabilities: unknown): Record<string, PlainJson> | null {
  const { data } = Declared.safeParse(capabilities);
  if (data === undefined) return null;
  const { form, url } = data.elicitation;
  if (form === undefined && url === undefined) return { form: {} };
  return { ...(form === undefined ? {} : { form: {} }), ...(url === undefined ? {} : { url: {} }) };
}

function placeOf({ tenant, principal }: SessionOwner) {
  return { tenant, id: 'mcp-session', argsHash: sha256Of(nodeProvider, canonicalBytes({ principal })) };
}
