/** A call that was not sent: nothing has run. Its message is for the caller. */
export class NotSent extends Error {}
