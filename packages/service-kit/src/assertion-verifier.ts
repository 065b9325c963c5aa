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

/** A kind of assertion: what names it, how long it lives at most, and what it says. */
type Kind<Claims extends { exp: number }> = {
  readonly name: string;
  readonly type: string;
  readonly lifeSecondsMax: number;
  readonly claims: z.ZodType<Claims>;
};

/** The proven claims, and the key that proved them. */
export type Proven<Claims> = Claims & { keyId: string };

const knownMax = 10_000;

/** Takes assertions of one kind that a pinned key has signed, and remembers each until it ends. Without a key it takes none. */
export class AssertionVerifier<Claims extends { exp: number }> {
  readonly #kind: Kind<Claims>;
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #now: () => Date;
  readonly #known = new Map<string, Proven<Claims>>();

  /** For whom the gateway speaks in a workspace. */
  static ofWorkspaces(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<AssertionClaims> {
    return new AssertionVerifier(
      { name: 'assertion of a workspace', ...assertionTerms, claims: AssertionClaims },
      keys,
      now,
    );
  }

  /** Which person is signed in. */
  static ofPeople(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<PersonClaims> {
    return new AssertionVerifier(
      { name: 'assertion of a person', ...personAssertionTerms, claims: PersonClaims },
      keys,
      now,
    );
  }

  /** Which person is signed in, at the commercial gateway. */
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

  /** For which person the control plane asks. */
  static ofDelegations(keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<DelegationClaims> {
    return new AssertionVerifier({ name: 'delegation', ...delegationTerms, claims: DelegationClaims }, keys, now);
  }

  /** Which API key calls a service. */
  static ofKeys(service: KeyAudience, keys: readonly AssertionKey[], now: () => Date): AssertionVerifier<KeyClaims> {
    const claims: z.ZodType<KeyClaims> = KeyClaims[service];
    return new AssertionVerifier({ name: 'assertion of an API key', ...keyAssertionTerms, claims }, keys, now);
  }

  private constructor(kind: Kind<Claims>, keys: readonly AssertionKey[], now: () => Date) {
    this.#kind = kind;
    this.#keys = new Map(keys.map(({ keyId, publicKey }) => [keyId, importedKey(publicKey)]));
    this.#now = now;
  }

  /** Who speaks. `text` is attacker-controlled. Throws CREDENTIALS_INVALID for whatever is not in all its parts as it has to be. */
  verify(text: string): Proven<Claims> | Promise<Proven<Claims>> {
    const cached = this.#known.get(text);
    if (cached !== undefined && this.#now().getTime() < cached.exp * 1_000) return cached;
    return this.#verifyAnew(text);
  }

  async #verifyAnew(text: string): Promise<Proven<Claims>> {
    const proven = await this.#proven(text).catch((cause: unknown) => {
      throw new AppError('CREDENTIALS_INVALID', signedTokenFault(this.#kind.name, cause, this.#now()), { cause });
    });
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.set(text, proven);
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
