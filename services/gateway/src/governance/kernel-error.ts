import { CallFailed, type CallFault } from '@countersign/contracts';
import type { RunErrorCode } from '@countersign/contracts/gateway';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { ReceiptFault } from './check-receipt.ts';

/**
 * Why a governed step was not executed. `unreachable`: the kernel gave no verified answer, so the run fails closed.
 * `upstream`: the kernel decided and answered, but the model failed. `interrupted`: this worker was stopped.
 */
type KernelErrorKind = 'unreachable' | 'upstream' | 'interrupted';

/** A receipt that failed verification, and why. Its content is attacker-controlled. */
export type RefusedReceipt = { receipt: StoredReceipt; fault: ReceiptFault };

type Details = { cause?: unknown; refused?: RefusedReceipt | null };

export class KernelError extends Error {
  readonly kind: KernelErrorKind;
  /** Low-cardinality, for step errors and metrics. */
  readonly code: RunErrorCode;
  /** `null` when no receipt arrived, or none failed verification. */
  readonly refused: RefusedReceipt | null;

  constructor(kind: KernelErrorKind, code: RunErrorCode, message: string, { cause, refused = null }: Details = {}) {
    super(message, cause === undefined ? {} : { cause });
    this.refused = refused;
    this.name = 'KernelError';
    this.kind = kind;
    this.code = code;
  }
}

export const notConfigured = new KernelError(
  'unreachable',
  'GOVERNANCE_NOT_CONFIGURED',
  'No governance service is configured, and nothing runs ungoverned',
);

/**
 * The kernel has later settings, or different ones under the same version. Either this gateway's database or the
 * kernel's was restored.
 */
export class SettingsRefused extends KernelError {
  readonly standingVersion: number;

  constructor({ version, current }: { version: number; current: number }) {
    const versions = `The kernel holds version ${current} of the settings, and this gateway has version ${version}`;
    const cause = 'Probably one of the databases was restored from a backup';
    super(
      'unreachable',
      'SETTINGS_REFUSED',
      `${versions}. ${cause}. An owner must check the settings and save them again`,
    );
    this.standingVersion = current;
  }
}

/** The error for an answer of the kernel that proves nothing. */
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
  malformed: ['unreachable', 'GOVERNANCE_MALFORMED', 'The answer of the kernel does not match its contract'],
};

/** For `catch`: throws a KernelError for a failed call. Throws all other errors unchanged. */
export function throwKernelError(error: unknown): never {
  if (!(error instanceof CallFailed)) throw error;
  const [kind, code, message] = ofFault[error.fault];
  throw new KernelError(kind, code, message, { cause: error });
}
