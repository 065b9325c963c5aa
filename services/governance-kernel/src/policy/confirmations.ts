import type { CryptoProvider } from '@countersign/crypto';
import { confirmationSkewMaxMs } from '@countersign/policy';
import { instantOf, isSignedByTrustedKey, type PolicyKey } from './activation.ts';
import type { PolicyHead } from './policy-heads.ts';

/**
 * The kernel's memory of signed statements about policies: the rows that hold one, and the newest of each tenant. A row
 * of the database is believed for its signature alone, and never when something newer was seen.
 */
export class Confirmations {
  readonly #provider: CryptoProvider;
  readonly #trustedKeys: readonly PolicyKey[];
  readonly #checked = new Map<string, { head: PolicyHead; isSigned: boolean }>();
  readonly #newest = new Map<string, PolicyHead>();

  constructor(provider: CryptoProvider, trustedKeys: readonly PolicyKey[]) {
    this.#provider = provider;
    this.#trustedKeys = trustedKeys;
  }

  /** Does a trusted policy key say all that this row says? Verified once for each statement: every decision asks. */
  isSigned(head: PolicyHead): boolean {
    const checked = this.#checked.get(head.tenant);
    if (checked !== undefined && isSameStatement(checked.head, head)) return checked.isSigned;
    const isSigned = this.#verifies(head);
    this.#checked.set(head.tenant, { head, isSigned });
    return isSigned;
  }

  /** Is nothing newer known than this head, under which the tenant is? A bundle of its own never gives way to that of all tenants. */
  isNewest(tenant: string, head: PolicyHead): boolean {
    if (head.tenant !== tenant && this.#newest.has(tenant)) return false;
    const known = this.#newest.get(head.tenant);
    return known === undefined || isNotBefore(head, known);
  }

  newest(tenant: string): PolicyHead | null {
    return this.#newest.get(tenant) ?? null;
  }

  /** For what is committed. A time in the future counts as little as an unsigned one. */
  learn(head: PolicyHead, nowMs: number): void {
    const known = this.#newest.get(head.tenant);
    if (known === head || head.confirmedAtMs > nowMs + confirmationSkewMaxMs || !this.isSigned(head)) return;
    if (known === undefined || isNotBefore(head, known)) this.#newest.set(head.tenant, head);
  }

  #verifies({ tenant, epoch, hash, confirmedAtMs, keyId, signature }: PolicyHead): boolean {
    try {
      const said = { tenant, epoch, policyHash: hash, confirmedAt: instantOf(confirmedAtMs) };
      const signed = { ...said, signature: { key_id: keyId, value: signature } };
      return isSignedByTrustedKey(this.#provider, this.#trustedKeys, signed);
    } catch {
      return false; // a damaged row is no statement
    }
  }
}

/** Statements rise in both. */
function isNotBefore(one: PolicyHead, other: PolicyHead): boolean {
  return one.epoch >= other.epoch && one.confirmedAtMs >= other.confirmedAtMs;
}

function isSameStatement(one: PolicyHead, other: PolicyHead): boolean {
  return (
    one === other ||
    (one.signature === other.signature &&
      one.confirmedAtMs === other.confirmedAtMs &&
      one.epoch === other.epoch &&
      one.hash === other.hash &&
      one.keyId === other.keyId)
  );
}
