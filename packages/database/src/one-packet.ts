import type pg from 'pg';

/**
 * Sends all statements that `send` starts in one packet. Separate writes would cost more than small statements
 * themselves.
 */
export function inOnePacket<Sent>({ connection: { stream } }: pg.PoolClient, send: () => Sent): Sent {
  stream.cork();
  try {
    return send();
  } finally {
    stream.uncork();
  }
}
