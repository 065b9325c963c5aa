/** The message for the caller of a delayed call that was not sent. */
export const stoppedWhileWaiting =
  'The call was delayed and not sent: in the meantime it was stopped, its agent, credential or tool was revoked, or its state could not be read';

/** A call that was not sent, so nothing has run. Its message is for the caller. */
export class NotSent extends Error {}
