import { AppError } from '@countersign/contracts';
import type { ClientSession } from './session-tokens.ts';

/** Open streams of one kernel. Each holds a connection and compares its lists every ten seconds. */
const openStreamsMax = 512;
/** A tenant can create any number of principals, so the streams of a tenant are limited too. */
const tenantStreamsMax = 256;
/** One principal must not use up the streams of a kernel. */
const principalStreamsMax = 8;

/**
 * Each round of a stream reads the lists of its caller from the database. A caller can start rounds by changes of its
 * settings, so a tenant has at most 25 rounds a second.
 */
const roundMs = 40;

type Owner = Pick<ClientSession, 'tenant' | 'principal' | 'id'>;
type Place = {
  isNewest(): boolean;
  /** The shortest pause between two rounds of the stream, in milliseconds. */
  pauseMs(): number;
  leave(): void;
};
type Entry = { owner: Owner; close(): void };

/** The streams on which this kernel sends to its clients between their requests. */
export class OpenStreams {
  readonly #open = new Set<Entry>();
  #isClosing = false;

  /** Throws RATE_LIMITED above the limits. `close` is called when the kernel stops. */
  enter(owner: Owner, close: () => void): Place {
    const ofTenant = this.#ofTenant(owner);
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
      pauseMs: () => this.#ofTenant(owner).length * roundMs,
      leave: () => void this.#open.delete(entry),
    };
  }

  #ofTenant({ tenant }: Owner): Entry[] {
    return [...this.#open].filter(({ owner }) => owner.tenant === tenant);
  }

  beginClose(): void {
    this.#isClosing = true;
    for (const { close } of this.#open) close();
  }
}
