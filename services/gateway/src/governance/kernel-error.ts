/**
 * Why a governed step was not executed. `unreachable`: no verified answer of the kernel, so the run fails closed. `upstream`: the
 * kernel decided and answered, but the model behind it did not. `interrupted`: this worker was told to stop.
 */
export type KernelErrorKind = 'unreachable' | 'upstream' | 'interrupted';

export class KernelError extends Error {
  readonly kind: KernelErrorKind;
  /** Low-cardinality, for step errors and metrics. */
  readonly code: string;

  constructor(kind: KernelErrorKind, code: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.name = 'KernelError';
    this.kind = kind;
    this.code = code;
  }
}
