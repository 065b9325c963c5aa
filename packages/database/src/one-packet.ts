import type pg from 'pg';

/** Sends the statements that `send` starts in one packet: for small ones, a write and a wake-up each cost more than the statement. */
export function inOnePacket<Sent>({ connection: { stream } }: pg.PoolClient, send: () => Sent): Sent {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
