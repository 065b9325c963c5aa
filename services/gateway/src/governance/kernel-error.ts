import { CallFailed, type CallFault } from '@countersign/contracts';
import type { RunErrorCode } from '@countersign/contracts/gateway';

/**
 * Why a governed step was not executed. `unreachable`: no verified answer of the kernel, so the run fails closed. `upstream`: the
 * kernel decided and answered, but the model behind it did not. `interrupted`: this worker was told to stop.
 */
type KernelErrorKind = 'unreachable' | 'upstream' | 'interrupted';

export class KernelError extends Error {
  readonly kind: KernelErrorKind;
  /** Low-cardinality, for step errors and metrics. */
  readonly code: RunErrorCode;

  constructor(kind: KernelErrorKind, code: RunErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'KernelError';
    this.kind = kind;
    this.code = code;
  }
}

/** An answer of the kernel that proves nothing. */
export function malformed(message: string, cause?: unknown): KernelError {
  return new KernelError('unreachable', 'GOVERNANCE_MALFORMED', message, { cause });
}

const ofFault: Record<CallFault, [KernelErrorKind, code: RunErrorCode, message: string]> = {
  aborted: ['interrupted', 'INTERRUPTED', 'The worker is stopping'],
  late: ['unreachable', 'GOVERNANCE_TIMEOUT', 'The kernel did not answer in time'],
  unreachable: ['unreachable', 'GOVERNANCE_UNAVAILABLE', 'The kernel did not answer'],
  malformed: ['unreachable', 'GOVERNANCE_MALFORMED', 'The answer of the kernel broke its contract'],
};

/** What a call that failed on the way means for the step. For `catch`: throws a KernelError, or what is no fault of the call. */
export function throwKernelError(error: unknown): never {
  if (!(error instanceof CallFailed)) throw error;
  const [kind, code, message] = ofFault[error.fault];
  throw new KernelError(kind, code, message, { cause: error });
}
