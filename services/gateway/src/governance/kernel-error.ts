import { CallFailed, type CallFault } from '@countersign/contracts';
import type { RunErrorCode } from '@countersign/contracts/gateway';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptFault } from './check-receipt.ts';

/**
 * Why a governed step was not executed. `unreachable`: no verified answer of the kernel, so the run fails closed. `upstream`: the
 * kernel decided and answered, but the model behind it did not. `interrupted`: this worker was told to stop.
 */
type KernelErrorKind = 'unreachable' | 'upstream' | 'interrupted';

/** A receipt that failed verification, and why. Its content is attacker-controlled. */
export type RefusedReceipt = { receipt: StoredReceipt; fault: ReceiptFault };

type Details = { cause?: unknown; refused?: RefusedReceipt | null };

export class KernelError extends Error {
  readonly kind: KernelErrorKind;
  /** Low-cardinality, for step errors and metrics. */
  readonly code: RunErrorCode;
  /** `null` when no receipt came, or none was refused. */
  readonly refused: RefusedReceipt | null;

  constructor(kind: KernelErrorKind, code: RunErrorCode, message: string, { cause, refused = null }: Details = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.refused = refused;
    this.name = 'KernelError';
    this.kind = kind;
    this.code = code;
  }
}

/** The kernel holds settings of a later version, or others of the same one: the database of this gateway was restored, or the kernel's was. */
export class SettingsRefused extends KernelError {
  readonly standingVersion: number;

  constructor({ version, standing }: { version: number; standing: number }) {
    const versions = `The kernel holds version ${standing} of the settings, and this gateway has version ${version}`;
    const cause = 'as after one of the databases was restored';
    super(
      'unreachable',
      'SETTINGS_REFUSED',
      `${versions}, ${cause}. An owner must check the settings and save them again`,
    );
    this.standingVersion = standing;
  }
}

/** An answer of the kernel that proves nothing. */
export function malformed(message: string, cause?: unknown): KernelError {
  return new KernelError('unreachable', 'GOVERNANCE_MALFORMED', message, { cause });
}

/** The error of a receipt that failed verification. */
export function receiptRefused(refused: RefusedReceipt): KernelError {
  const message = `The receipt of the kernel was refused: ${refused.fault}`;
  return new KernelError('unreachable', 'RECEIPT_UNVERIFIED', message, { refused });
}

const ofFault: Record<CallFault, [KernelErrorKind, code: RunErrorCode, message: string]> = {
  aborted: ['interrupted', 'INTERRUPTED', 'The worker is stopping'],
  late: ['unreachable', 'GOVERNANCE_TIMEOUT', 'The kernel did not answer in time'],
  unreachable: ['unreachable', 'GOVERNANCE_UNAVAILABLE', 'The kernel did not answer'],
  malformed: ['unreachable', 'GOVERNANCE_MALFORMED', 'The answer of the kernel broke its contract'],
};

/**
 * The effect of a failed call on its step. For `catch`: throws a KernelError, or the error itself when it is no fault
 * of the call. For `catch`: throws a KernelError, or what is no fault of the call.
 */
export function throwKernelError(error: unknown): never {
  if (!(error instanceof CallFailed)) throw error;
  const [kind, code, message] = ofFault[error.fault];
  throw new KernelError(kind, code, message, { cause: error });
}
