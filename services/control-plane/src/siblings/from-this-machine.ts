import type { IncomingMessage } from 'node:http';
import { fromThisMachineHeader } from '@countersign/contracts';

/** Whether the gateway has found that the browser runs on its own machine. */
export function isFromThisMachine({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers[fromThisMachineHeader] === '1';
}
