import type { IncomingMessage } from 'node:http';

const clientLengthMax = 256;

/** The name that a browser gives itself (attacker-controlled), for the list in which its person looks for it. */
export function callerClient({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return (headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, clientLengthMax);
}
