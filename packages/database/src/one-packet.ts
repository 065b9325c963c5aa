import type pg from 'pg';

/**
 * Sends all statements that `send` starts in one packet. A write and a wake-up for each would cost more than a small statement
 * itself.
 */
export function inOnePacket<Sent>({ connection: { stream } }: pg.PoolClient, send: () => Sent): Sent {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
