import type { KeyObject } from 'node:crypto';
import {
  AppError,
  AssertionClaims,
  assertionHeader,
  assertionTerms,
  commercialAssertionTerms,
  CommercialPersonClaims,
  DelegationClaims,
  delegationTerms,
  keyAssertionTerms,
  KeyClaims,
  PersonClaims,
  personAssertionTerms,
  type KeyAudience,
} from '@countersign/contracts';
import type { z } from 'zod';
import { importedKey, signedTokenFault, signedTokenHeader, verifySignedToken } from './signed-token.ts';

type AssertionKey = { readonly keyId: string; readonly publicKey: Uint8Array };

/** A kind of assertion: its name, its maximum lifetime and its claims. */
type Kind<Claims extends { exp: number }> = {
  readonly name: string;
  readonly type: string;
  readonly lifeSecondsMax: number;
  readonly claims: z.ZodType<Claims>;
};

/** The proven claims, and the key that proved them. */
export type Proven<Claims> = Claims & { keyId: string };

const knownMax = 10_000;

/**
 * Verifies assertions of one kind that a pinned key signed, and caches each until it expires. Without a key it accepts
 * none.
 */
export class AssertionVerifier<Claims extends { exp: number }> {
  readonly #kind: Kind<Claims>;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #now: () => Date;
  readonly #verified = new Map<string, Proven<Claims>>();

  /** Assertions of callers in a workspace. */
  static ofWorkspaces(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<AssertionClaims> {
    return new AssertionVerifier(
      { name: 'assertion of a workspace', ...assertionTerms, claims: AssertionClaims },
      keys,
      now,
    );
  }

  /** Assertions of signed-in people. */
  static ofPeople(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<PersonClaims> {
    return new AssertionVerifier(
      { name: 'assertion of a person', ...personAssertionTerms, claims: PersonClaims },
      keys,
      now,
    );
  }

  /** Assertions of signed-in people for the commercial gateway. */
  static ofCommercialCallers(
    keys: readonly AssertionKey[],
    now: () => Date,
  ): AssertionVerifier<CommercialPersonClaims> {
    return new AssertionVerifier(
      { name: 'assertion of a person', ...commercialAssertionTerms, claims: CommercialPersonClaims },
      keys,
      now,
    );
  }

  /** Delegations of people to a service. */
  static ofDelegations(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<DelegationClaims> {
    return new AssertionVerifier({ name: 'delegation', ...delegationTerms, claims: DelegationClaims }, keys, now);
  }

  /** Assertions of API keys for a service. */
  static ofKeys(service: KeyAudience, keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<KeyClaims> {
    const claims: z.ZodType<KeyClaims> = KeyClaims[service];
    return new AssertionVerifier({ name: 'assertion of an API key', ...keyAssertionTerms, claims }, keys, now);
  }

  private constructor(kind: Kind<Claims>, keys: readonly AssertionKey[], now: () => Date) {
    this.#kind = kind;
    this.#keys = new Map(keys.map(({ keyId, publicKey }) => [keyId, importedKey(publicKey)]));
    this.#now = now;
  }

  /** The proven caller. `text` is attacker-controlled. Throws CREDENTIALS_INVALID for any fault. */
  verify(text: string): Proven<Claims> | Promise<Proven<Claims>> {
    const cached = this.#verified.get(text);
    if (cached !== undefined && this.#now().getTime() < cached.exp * 1_000) return cached;
    return this.#verifyAnew(text);
  }

  async #verifyAnew(text: string): Promise<Proven<Claims>> {
    const proven = await this.#proven(text).catch((cause: unknown) => {
      throw new AppError('CREDENTIALS_INVALID', signedTokenFault(this.#kind.name, cause, this.#now()), { cause });
    });
    if (this.#verified.size >= knownMax) this.#verified.clear();
    this.#verified.set(text, proven);
    return proven;
  }

  async #proven(text: string): Promise<Proven<Claims>> {
    const { kid } = assertionHeader(this.#kind.type).parse(signedTokenHeader(text));
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`no key ${kid} is pinned`);
    const { lifeSecondsMax } = this.#kind;
    const claims = await verifySignedToken(text, key, { now: this.#now(), lifeSecondsMax });
    return { ...this.#kind.claims.parse(claims), keyId: kid };
  }
}
