/** The environment of a command. */
export type Io = {
  /** Data alone: what another program reads. */
  write(text: string): void;
  /** Words for a person. */
  tell(text: string): void;
  env: NodeJS.ProcessEnv;
  stdin: AsyncIterable<Uint8Array>;
  /** Aborted when the person has enough. */
  signal: AbortSignal;
};
