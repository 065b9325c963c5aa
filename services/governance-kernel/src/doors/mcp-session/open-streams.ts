import { AppError } from '@countersign/contracts';
import type { ClientSession } from './session-tokens.ts';

/** Open streams of one kernel. Each holds a connection and compares its lists every ten seconds. */
const openStreamsMax = 512;
/** A tenant can create any number of principals, so the streams of a tenant are limited too. */
const tenantStreamsMax = openStreamsMax / 2;
/** One principal must not use up the streams of a kernel. */
const principalStreamsMax = 8;

type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;
type Entry = { owner: Owner; close(): void };

/** The streams on which this kernel sends to its clients between their requests. */
export class OpenStreams {
  readonly #open = new Set<Entry>();
  #isClosing = false;

  /** Throws RATE_LIMITED above the limits. `close` is called when the kernel stops. */
  enter(owner: Owner, close: () => void): { isNewest(): boolean; leave(): void } {
    const ofTenant = [...this.#open].filter(({ owner: of }) => of.tenant === owner.tenant);
    const own = ofTenant.filter(({ owner: of }) => of.principal === owner.principal);
    const isFull =
      this.#open.size >= openStreamsMax || ofTenant.length >= tenantStreamsMax || own.length >= principalStreamsMax;
    if (this.#isClosing || isFull)
      throw new AppError('RATE_LIMITED', 'Too many event streams are open. Close one of them, or try again later');
    const entry = { owner, close };
    this.#open.add(entry);
    return {
      // A message is sent on one stream of a session only (MCP 2025-11-25, Multiple Connections).
      isNewest: () => [...this.#open].findLast(({ owner: { id } }) => id === owner.id) === entry,
      leave: () => void this.#open.delete(entry),
    };
  }

  beginClose(): void {
    this.#isClosing = true;
    for (const { close } of this.#open) close();
  }
}
