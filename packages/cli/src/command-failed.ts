/** A command ends with this sentence and this status: 1 refused, 2 not understood or not reached. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly status: 1 | 2;

  constructor(message: string, status: 1 | 2, options: { cause?: unknown } = {}) {
    super(message, options);
    this.status = status;
  }
}
