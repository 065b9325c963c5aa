/** Description of a message that its consumer could not handle. */
export type DeadLetter = {
  messageId: string;
  /** Type of the event in the message. `unknown` when the message is not an event. */
  type: string;
  reason: string;
  /** `null` when the broker does not report it. */
  deadAt: Date | null;
};

/** The dead letters of a transport, for tools outside the services. */
export type DeadLetters = {
  count(queue: string): Promise<number>;
  /** Lists the oldest first, up to {@link lettersMax}. */
  list(queue: string): Promise<DeadLetter[]>;
  /** Moves one or all dead letters of a queue back into it as new messages. Returns their number. */
  redrive(queue: string, messageId?: string): Promise<number>;
  close(): Promise<void>;
};

/** Maximum number of dead letters of a queue that are listed. */
export const lettersMax = 1_000;

export const unknownType = 'unknown';
