const minuteMs = 60_000;

/** From the code that was sent to its use: as long as the code lives. */
export const loginLifetimeMs = 10 * minuteMs;
/** The longest use of a stolen access cookie whose owner has noticed nothing. */
export const accessLifetimeMs = 15 * minuteMs;
/** A person who stays away for longer signs in again. */
export const sessionLifetimeMs = 30 * 24 * 60 * minuteMs;
/** From a program's question to the answer of a person (RFC 8628 §6.1): to fetch a telephone and to type eight letters. */
export const deviceLoginLifetimeMs = 10 * minuteMs;
/** The shortest interval of a program's polls; it grows with each faster poll (RFC 8628 §3.5). */
export const pollIntervalSeconds = 5;
/** Two tabs that renew in one moment are no theft: the second is told that the browser has its cookies, and is given none. */
export const renewalOverlapMs = 10_000;
/** The time that ended sessions are kept, for the investigation of a theft. */
export const endedKeptMs = 30 * 24 * 60 * minuteMs;
