import { AppError } from '@countersign/contracts';
import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { keyFaultAt, keyFaultText, type KeyFault, type KeyWindow } from './key-fault.ts';

type Parts = {
  signers: Readonly<Record<KeyPurpose, { keyId: string }>>;
  listKeys(): Promise<readonly ({ key_id: string; purpose: KeyPurpose } & KeyWindow)[]>;
  clock: () => Date;
  log: Log;
};

/**
 * Stops a kernel from signing with an invalid key: its statements could never be proven. A fault is reported once,
 * until it changes.
 */
export class KeyGuard {
  readonly #parts: Parts;
  readonly #told = new Map<KeyPurpose, KeyFault>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Reads the published keys. Throws RECEIPT_STORE_UNAVAILABLE where one of the kernel's own may not sign at this instant. */
  async assertCounting(purposes: readonly KeyPurpose[], at = this.#parts.clock()): Promise<void> {
    const keys = await this.#parts.listKeys();
    for (const purpose of purposes) {
      const { keyId } = this.#parts.signers[purpose];
      const fault = keyFaultAt(
        keys.find((key) => key.key_id === keyId && key.purpose === purpose),
        at,
      );
      if (fault !== null) throw this.refusalOf(purpose, fault);
      this.noteCounting(purpose);
    }
  }

  /** Whether a key that signs policies is revoked or has ended. Those of others need not be published, and sign before a kernel begins. */
  async findPolicyKeyFault(keyId: string, at: Date): Promise<KeyFault | null> {
    const key = (await this.#parts.listKeys()).find(
      ({ key_id, purpose }) => key_id === keyId && purpose === 'policies',
    );
    const fault = key === undefined ? null : keyFaultAt(key, at);
    return fault === 'early' ? null : fault;
  }

  /** The database has found a fault. */
  refusalOf(purpose: KeyPurpose, fault: KeyFault): AppError {
    const { keyId } = this.#parts.signers[purpose];
    if (this.#told.get(purpose) !== fault) this.#parts.log.error('key.refused', { purpose, key_id: keyId, fault });
    this.#told.set(purpose, fault);
    const key = `The key ${keyId} of this kernel for ${purpose} ${keyFaultText[fault]}`;
    return new AppError('RECEIPT_STORE_UNAVAILABLE', `${key}, so nothing is signed, and nothing was executed`);
  }

  /** The database has found nothing wrong with it. */
  noteCounting(purpose: KeyPurpose): void {
    if (this.#told.delete(purpose)) this.#parts.log.info('key.counts_again', { purpose });
  }
}
