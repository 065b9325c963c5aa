import { AppError } from '@countersign/contracts';
import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { keyFaultAt, keyFaultText, type KeyFault, type KeyWindow } from './key-fault.ts';

type Deps = {
  signers: Readonly<Record<KeyPurpose, { keyId: string }>>;
  listKeys(): Promise<readonly ({ key_id: string; purpose: KeyPurpose } & KeyWindow)[]>;
  clock: () => Date;
  log: Log;
};

/**
 * Stops a kernel from signing with an invalid key, since its statements could never be proven. A fault is logged once,
 * and again only when it changes.
 */
export class KeyGuard {
  readonly #deps: Deps;
  readonly #reported = new Map<KeyPurpose, KeyFault>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /**
   * Reads the published keys. Throws RECEIPT_STORE_UNAVAILABLE when one of the kernel's own keys may not sign at this
   * instant.
   */
  async assertCounting(purposes: readonly KeyPurpose[], at = this.#deps.clock()): Promise<void> {
    const keys = await this.#deps.listKeys();
    for (const purpose of purposes) {
      const { keyId } = this.#deps.signers[purpose];
      const fault = keyFaultAt(
        keys.find((key) => key.key_id === keyId && key.purpose === purpose),
        at,
      );
      if (fault !== null) throw this.refusalOf(purpose, fault);
      this.noteCounting(purpose);
    }
  }

  /**
   * The fault of a policy key that is revoked or has ended. Otherwise `null`: keys of others need not be published, and
   * may have signed before a kernel published them.
   */
  async findPolicyKeyFault(keyId: string, at: Date): Promise<KeyFault | null> {
    const key = (await this.#deps.listKeys()).find(({ key_id, purpose }) => key_id === keyId && purpose === 'policies');
    const fault = key === undefined ? null : keyFaultAt(key, at);
    return fault === 'early' ? null : fault;
  }

  /** The error for a key with this fault. Logs the fault if it is new. */
  refusalOf(purpose: KeyPurpose, fault: KeyFault): AppError {
    const { keyId } = this.#deps.signers[purpose];
    if (this.#reported.get(purpose) !== fault) this.#deps.log.error('key.refused', { purpose, key_id: keyId, fault });
    this.#reported.set(purpose, fault);
    const key = `The key ${keyId} of this kernel for ${purpose} ${keyFaultText[fault]}`;
    return new AppError('RECEIPT_STORE_UNAVAILABLE', `${key}, so nothing is signed, and nothing was executed`);
  }

  /** Notes that the key may sign. Logs that if a fault was logged before. */
  noteCounting(purpose: KeyPurpose): void {
    if (this.#reported.delete(purpose)) this.#deps.log.info('key.counts_again', { purpose });
  }
}
