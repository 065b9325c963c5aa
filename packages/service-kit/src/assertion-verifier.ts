import type { KeyObject } from 'node:crypto';
import { AppError, AssertionClaims, AssertionHeader, assertionTerms } from '@countersign/contracts';
import { importedKey, signedTokenHeader, verifySignedToken } from './signed-token.ts';

type AssertionKey = { readonly keyId: string; readonly publicKey: Uint8Array };
/** What was proven, and by which key. */
export type ProvenAssertion = Pick<AssertionClaims, 'sub' | 'workspace_id' | 'role' | 'exp'> & { keyId: string };

const knownMax = 10_000;

/** Takes assertions that a pinned key has signed, and remembers each until it ends. Without a key it takes none. */
export class AssertionVerifier {
  readonly #keys: ReadonlyMap<string, KeyObject>;
  readonly #now: () => Date;
  readonly #known = new Map<string, ProvenAssertion>();

  constructor(keys: readonly AssertionKey[], now: () => Date) {
    this.#keys = new Map(keys.map(({ keyId, publicKey }) => [keyId, importedKey(publicKey)]));
    this.#now = now;
  }

  /** Who speaks. `text` is attacker-controlled. Throws CREDENTIALS_INVALID for whatever is not in all its parts as it has to be. */
  verify(text: string): ProvenAssertion | Promise<ProvenAssertion> {
    const known = this.#known.get(text);
    if (known !== undefined && this.#now().getTime() < known.exp * 1_000) return known;
    return this.#verifyAnew(text);
  }

  async #verifyAnew(text: string): Promise<ProvenAssertion> {
    const proven = await this.#proven(text).catch((cause: unknown) => {
      throw new AppError('CREDENTIALS_INVALID', 'The assertion is not valid', { cause });
    });
    if (this.#known.size >= knownMax) this.#known.clear();
    this.#known.set(text, proven);
    return proven;
  }

  async #proven(text: string): Promise<ProvenAssertion> {
    const { kid } = AssertionHeader.parse(signedTokenHeader(text));
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`no key ${kid} is pinned`);
    const claims = await verifySignedToken(text, key, {
      now: this.#now(),
      lifeSecondsMax: assertionTerms.lifeSecondsMax,
    });
    const { sub, workspace_id, role, exp } = AssertionClaims.parse(claims);
    return { sub, workspace_id, role, exp, keyId: kid };
  }
}
