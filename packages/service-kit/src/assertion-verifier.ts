import { createPublicKey, type KeyObject } from 'node:crypto';
import { AppError, AssertionClaims, AssertionHeader, assertionTerms } from '@countersign/contracts';
import { publicKeyToJwk } from '@countersign/crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';

type AssertionKey = { readonly keyId: string; readonly publicKey: Uint8Array };
/** What was proven, and by which key. */
export type ProvenAssertion = Pick<AssertionClaims, 'sub' | 'workspace_id' | 'role' | 'exp'> & { keyId: string };

/** Two machines that keep their time by NTP differ by far less. */
const clockSkewSeconds = 5;
const knownMax = 10_000;

/** A JOSE header is a JSON object, and so begins with `{"`; no other credential of ours does. */
export function isAssertion(bearer: string): boolean {
  return /^eyJ[\w-]*\.[\w-]*\.[\w-]*$/.test(bearer);
}

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
    const { alg, kid } = AssertionHeader.parse(decodeProtectedHeader(text));
    const key = this.#keys.get(kid);
    if (key === undefined) throw new Error(`no key ${kid} is pinned`);
    const { payload } = await jwtVerify(text, key, {
      algorithms: [alg],
      // With it, what begins later is refused as well.
      maxTokenAge: assertionTerms.lifeSecondsMax,
      clockTolerance: clockSkewSeconds,
      currentDate: this.#now(),
    });
    const { sub, workspace_id, role, exp } = AssertionClaims.parse(payload);
    return { sub, workspace_id, role, exp, keyId: kid };
  }
}

function importedKey(publicKey: Uint8Array): KeyObject {
  return createPublicKey({ key: { ...publicKeyToJwk(publicKey) }, format: 'jwk' });
}
