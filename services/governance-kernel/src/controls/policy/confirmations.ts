import { instantOf } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import { confirmationSkewMaxMs } from '@countersign/policy';
import { isSignedByTrustedKey, type PolicyKey } from './activation.ts';
import type { PolicyHead } from './policy-heads.ts';

/**
 * The signed policy statements that the kernel has seen, and the newest of each tenant. The kernel trusts a row of the
 * database only if its signature is valid and the kernel has seen no newer statement.
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

  /**
   * Whether a trusted policy key signed the whole content of this row. The result is cached, since every decision needs
   * it.
   */
  isSigned(head: PolicyHead): boolean {
    const checked = this.#checked.get(head.tenant);
    if (checked !== undefined && isSameStatement(checked.head, head)) return checked.isSigned;
    const isSigned = this.#verifies(head);
    this.#checked.set(head.tenant, { head, isSigned });
    return isSigned;
  }

  /**
   * Whether no newer statement than this head is known for the tenant. The bundle of all tenants (`*`) never replaces a
   * tenant's own bundle.
   */
  isNewest(tenant: string, head: PolicyHead): boolean {
    if (head.tenant !== tenant && this.#newest.has(tenant)) return false;
    const existing = this.#newest.get(head.tenant);
    return existing === undefined || isNotBefore(head, existing);
  }

  newest(tenant: string): PolicyHead | null {
    return this.#newest.get(tenant) ?? null;
  }

  /**
   * Called for committed statements. Ignores unsigned statements, and those with a time more than a minute in the
   * future.
   */
  learn(head: PolicyHead, nowMs: number): void {
    const existing = this.#newest.get(head.tenant);
    if (existing === head || head.confirmedAtMs > nowMs + confirmationSkewMaxMs || !this.isSigned(head)) return;
    if (existing === undefined || isNotBefore(head, existing)) this.#newest.set(head.tenant, head);
  }

  #verifies({ tenant, epoch, hash, confirmedAtMs, keyId, signature }: PolicyHead): boolean {
    try {
      const statement = { tenant, epoch, policyHash: hash, confirmedAt: instantOf(confirmedAtMs) };
      const signed = { ...statement, signature: { key_id: keyId, value: signature } };
      return isSignedByTrustedKey(this.#provider, this.#trustedKeys, signed);
    } catch {
      return false; // the row is damaged
    }
  }
}

/** Newer statements have neither a lower epoch nor an earlier time. */
function isNotBefore(a: PolicyHead, b: PolicyHead): boolean {
  return a.epoch >= b.epoch && a.confirmedAtMs >= b.confirmedAtMs;
}

function isSameStatement(a: PolicyHead, b: PolicyHead): boolean {
  return (
    a === b ||
    (a.signature === b.signature &&
      a.confirmedAtMs === b.confirmedAtMs &&
      a.epoch === b.epoch &&
      a.hash === b.hash &&
      a.keyId === b.keyId)
  );
}
