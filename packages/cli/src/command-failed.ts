/** Ends the command with this message and this exit status: 1 for refused, 2 for invalid input or no connection. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
  readonly status: 1 | 2;

  constructor(message: string, status: 1 | 2, options: { cause?: unknown } = {}) {
    super(message, options);
    this.status = status;
  }
}
