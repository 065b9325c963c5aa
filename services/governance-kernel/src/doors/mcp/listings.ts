import { setTimeout as delay } from 'node:timers/promises';
import type { Tool } from '@modelcontextprotocol/client';
import type { UpstreamServer } from './upstream-server.ts';

type Lists = Pick<UpstreamServer, 'tools'>;
export type ToolsOf = (server: Lists) => Promise<readonly Tool[]>;

/**
 * The lists of servers for all calls of one answer. Each server is queried once, and all waits together last at most
 * `timeoutMs`. A model decides the number of calls, and a hanging server must not delay the answer for each of them.
 */
export class Listings {
  readonly #now: () => number;
  readonly #requests = new Map<Lists, Promise<readonly Tool[]>>();
  #leftMs: number;
  #waiting = 0;
  #waitingSinceMs = 0;

  constructor(timeoutMs: number, now: () => number = () => performance.now()) {
    this.#leftMs = timeoutMs;
    this.#now = now;
  }

  /** Rejects when the server does not answer in the remaining time. */
  readonly of: ToolsOf = (server) => {
    const pending = this.#requests.get(server) ?? this.#ask(server);
    this.#requests.set(server, pending);
    return pending;
  };

  async #ask(server: Lists): Promise<readonly Tool[]> {
    if (this.#waiting === 0) this.#waitingSinceMs = this.#now();
    this.#waiting += 1;
    const answered = new AbortController();
    try {
      return await Promise.race([server.tools(), lateAfter(this.#leftMs - this.#waitedMs(), answered.signal)]);
    } finally {
      answered.abort();
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#leftMs -= this.#waitedMs();
    }
  }

  #waitedMs(): number {
    return this.#now() - this.#waitingSinceMs;
  }
}

async function lateAfter(timeoutMs: number, signal: AbortSignal): Promise<never> {
  await delay(Math.max(0, timeoutMs), undefined, { signal });
  throw new Error('The MCP server did not list its tools in time');
}
