/** The report on a message that no handler took. */
export type DeadLetter = {
  messageId: string;
  /** The type of its event, or `unknown` when it is no event. */
  type: string;
  reason: string;
  /** Null: the broker does not say. */
  deadAt: Date | null;
};

/** The dead letters of a transport, for tools beside the services. */
export type DeadLetters = {
  count(queue: string): Promise<number>;
  /** The oldest first, up to the number that a person reads. */
  list(queue: string): Promise<DeadLetter[]>;
  /** Moves all of a queue, or one of them, back into the queue as new messages; returns how many. */
  redrive(queue: string, messageId?: string): Promise<number>;
  close(): Promise<void>;
};

/** How many dead letters of a queue are looked at, one by one. */
export const lettersMax = 1_000;

export const unknownType = 'unknown';
