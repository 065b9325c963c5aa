/** The environment of a command. */
export type Io = {
  /** Writes data to the standard output, for other programs. */
  write(text: string): void;
  /** Writes a message for the user to the standard error. */
  tell(text: string): void;
  env: NodeJS.ProcessEnv;
  stdin: AsyncIterable<Uint8Array>;
  /** Aborted when the user stops the command. */
  signal: AbortSignal;
};
