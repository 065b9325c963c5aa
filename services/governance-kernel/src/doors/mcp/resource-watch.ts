import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@modelcontextprotocol/client';

type Subscription = Awaited<ReturnType<Client['listen']>>;
/** The connection to the server, and what the server was last requested to watch over it. */
type Watching = { client: Client; uris: ReadonlySet<string>; listening: Subscription | null };

/** Revisions from this one on have one stream for all changes. */
const revisionWithListen = '2026-07-28';
/** The pause before a server is requested again after a failure. */
const retryMs = 5_000;

/** Watches resources of one server, over its current connection, for all clients of this kernel. */
export class ResourceWatch {
  readonly #watched = new Map<string, Set<() => void>>();
  readonly #closing = new AbortController();
  readonly #timeoutMs: number;
  #current: Watching | null = null;
  #syncing: Promise<void> | null = null;
  #isStale = false;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `changed` after each change of the resource that the server reports. Returns the function that ends this. */
  watch(uri: string, changed: () => void): () => void {
    const watchers = this.#watched.get(uri) ?? new Set();
    this.#watched.set(uri, watchers.add(changed));
    this.#sync();
    return () => {
      watchers.delete(changed);
      if (watchers.size > 0 || this.#watched.get(uri) !== watchers) return;
      this.#watched.delete(uri);
      this.#sync();
    };
  }

  /** Watches over this connection from now on. Changes before it may have been missed, so all are reported. */
  connected(client: Client): void {
    client.setNotificationHandler('notifications/resources/updated', ({ params: { uri } }) => this.#tell(uri));
    const isReconnected = this.#current !== null;
    this.#current = { client, uris: new Set(), listening: null };
    if (isReconnected) for (const uri of this.#watched.keys()) this.#tell(uri);
    this.#sync();
  }

  close(): void {
    this.#closing.abort();
    void this.#current?.listening?.close().catch(() => undefined);
    this.#current = null;
  }

  #isCurrent(client: Client): boolean {
    return this.#current?.client === client;
  }

  #tell(uri: string): void {
    for (const changed of this.#watched.get(uri) ?? []) changed();
  }

  /** One request at a time. A change during it is requested afterwards. */
  #sync(): void {
    this.#isStale = true;
    this.#syncing ??= this.#syncAll().finally(() => {
      this.#syncing = null;
    });
  }

  async #syncAll(): Promise<void> {
    while (this.#isStale && this.#current !== null && !this.#closing.signal.aborted) {
      this.#isStale = false;
      const { client } = this.#current;
      try {
        await this.#request(this.#current, new Set(this.#watched.keys()));
      } catch {
        // A server that is gone is connected again, and then everything is requested again.
        if (!this.#isCurrent(client)) continue;
        await delay(retryMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
        this.#isStale = true;
      }
    }
  }

  async #request(current: Watching, uris: ReadonlySet<string>): Promise<void> {
    if (uris.size === current.uris.size && [...uris].every((uri) => current.uris.has(uri))) return;
    const version = current.client.getNegotiatedProtocolVersion() ?? '';
    if (version >= revisionWithListen) await this.#listen(current, uris);
    else await this.#subscribe(current, uris);
    current.uris = uris;
  }

  /** The new stream is opened before the old one is closed, so that no change is missed. */
  async #listen(current: Watching, uris: ReadonlySet<string>): Promise<void> {
    const before = current.listening;
    const options = { timeout: this.#timeoutMs };
    const listening =
      uris.size === 0 ? null : await current.client.listen({ resourceSubscriptions: [...uris] }, options);
    current.listening = listening;
    await before?.close();
    void listening?.closed.then(async () => {
      if (this.#current?.listening !== listening || this.#closing.signal.aborted) return;
      current.uris = new Set();
      current.listening = null;
      await delay(retryMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      for (const uri of this.#watched.keys()) this.#tell(uri);
      this.#sync();
    });
  }

  /** A resource that the server does not let the kernel watch is not requested again, and stops no other. */
  async #subscribe({ client, uris: before }: Watching, uris: ReadonlySet<string>): Promise<void> {
    const options = { timeout: this.#timeoutMs };
    const ended = [...before].filter((uri) => !uris.has(uri));
    const begun = [...uris].filter((uri) => !before.has(uri));
    await Promise.allSettled([
      ...ended.map((uri) => client.unsubscribeResource({ uri }, options)),
      ...begun.map((uri) => client.subscribeResource({ uri }, options)),
    ]);
  }
}
