import type { IncomingMessage } from 'node:http';

const clientLengthMax = 256;

/** The User-Agent of a request (attacker-controlled), cleaned and shortened. The list of sessions shows it. */
export function callerClient({ headers }: Pick<IncomingMessage, 'headers'>): string {
  return (headers['user-agent'] ?? '').replace(/[^\x20-\x7e]/g, '').slice(0, clientLengthMax);
}
