const minuteMs = 60_000;

/** The lifetime of a login that waits for a code, a passkey or an identity provider. */
export const loginLifetimeMs = 10 * minuteMs;
/** The lifetime of an access token. A stolen one is useless after this time. */
export const accessLifetimeMs = 15 * minuteMs;
/** A person who stays away for longer than this must sign in again. */
export const sessionLifetimeMs = 30 * 24 * 60 * minuteMs;
/** The time for a person to answer a program (RFC 8628 §6.1), enough to fetch a phone and type eight letters. */
export const deviceLoginLifetimeMs = 10 * minuteMs;
/** The shortest interval between polls of a program. It grows with each poll that is too fast (RFC 8628 §3.5). */
export const pollIntervalSeconds = 5;
/**
 * A second renewal within this time is not treated as theft, since two tabs may renew at the same moment. The second
 * tab gets no cookies, because the browser already has them.
 */
export const renewalOverlapMs = 10_000;
/**
 * The time for which expired sessions, expired evidence handles and used refresh tokens are kept, for the investigation
 * of a theft.
 */
export const endedKeptMs = 30 * 24 * 60 * minuteMs;
