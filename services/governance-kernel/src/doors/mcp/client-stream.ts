import { setTimeout as delay } from 'node:timers/promises';
import type { EventStream, Log } from '@countersign/service-kit';
import type { Caller } from '../../call/governed-call.ts';
import type { McpSessions } from '../mcp-session/mcp-sessions.ts';
import type { ClientSession } from '../mcp-session/session-tokens.ts';
import type { Lists, StreamState } from '../mcp-session/stream-states.ts';
import type { CallableToolsDeps } from './callable-tools.ts';
import { readableResources, type ReadableResourcesDeps } from './readable-resources.ts';
import type { McpGateway, WatchableServer } from './gateway.ts';
import { visibleLists } from './visible-lists.ts';

type StreamDeps = {
  mcp: Pick<McpGateway, 'listing' | 'offered' | 'watchable'>;
  callable: CallableToolsDeps & ReadableResourcesDeps;
  sessions: Pick<McpSessions, 'settings' | 'streamStates' | 'streamTickMs'>;
  now(): number;
};

type ClientStreamOptions = {
  session: ClientSession;
  caller: Caller;
  stream: EventStream;
  log: Log;
  /** Whether this is the newest stream of its session, which alone gets messages. */
  isNewest(): boolean;
  /** The shortest pause between two rounds of a stream while its tenant has many. */
  pauseMs(): number;
  /** Rejects when the credential of the caller is not valid any more. */
  verify(): Promise<unknown>;
};

/** The shortest pause between two reads of the lists, whatever a server or a client sends. */
const pauseMsMin = 1_000;

const listMethods = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
} as const;

/**
 * Sends changes of lists and of subscribed resources to one client. Every message is filtered by what the caller could
 * list at that moment. When anything cannot be verified, the stream ends without a message.
 */
export class ClientStream {
  readonly #deps: StreamDeps;
  readonly #options: ClientStreamOptions;
  readonly #watched = new Map<string, { server: WatchableServer; uri: string; stop(): void }>();
  readonly #changed = new Set<string>();
  #wake: () => void = () => undefined;
  #isStateNew = true;
  #lists: Lists | null = null;

  constructor(deps: StreamDeps, options: ClientStreamOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Resolves when the stream has ended. `restored` is the state that the client returned. */
  async run(restored: StreamState | null): Promise<void> {
    const { session, stream, log, pauseMs } = this.#options;
    const { settings, streamTickMs } = this.#deps.sessions;
    const stopWatching = settings.watch(session, () => {
      this.#isStateNew = true;
      this.#wake();
    });
    stream.ended.addEventListener('abort', () => this.#wake(), { once: true });
    try {
      if (restored !== null) await settings.restore(session, restored);
      this.#lists = restored?.lists ?? null;
      while (!stream.ended.aborted) {
        const woken = new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        await this.#round();
        const waits = new AbortController();
        const tick = delay(streamTickMs, undefined, { signal: waits.signal }).catch(() => undefined);
        await Promise.race([woken, tick]);
        waits.abort();
        await delay(Math.min(Math.max(pauseMsMin, pauseMs()), streamTickMs));
      }
    } catch (error) {
      log.info('mcp_stream.ended', { error });
    } finally {
      stopWatching();
      for (const { stop } of this.#watched.values()) stop();
      stream.close();
    }
  }

  async #round(): Promise<void> {
    const { session, caller, stream, verify, isNewest } = this.#options;
    await verify();
    if (this.#deps.now() >= session.expiresAtMs) return stream.close();
    const { callable, sessions } = this.#deps;
    const { lists, readableServers: servers } = await visibleLists(this.#deps, caller);
    const { settings, streamStates } = sessions;
    const subscribed = [...settings.of(session).subscriptions.values()];
    const readable = await readableResources(callable, caller, { servers, subscriptions: subscribed });
    this.#watchResources(readable);
    const messages = this.#messages(lists, readable);
    const { level, subscriptions } = settings.of(session);
    if (messages.length === 0 && !this.#isStateNew) return;
    this.#isStateNew = false;
    const state = { level, subscriptions: [...subscriptions.values()], lists };
    const id = streamStates.seal(session, state);
    if (isNewest()) for (const message of messages) await stream.send({ id, data: { jsonrpc: '2.0', ...message } });
    if (messages.length === 0) await stream.send({ id });
  }

  /** The messages since the last round. A resource that the caller may not read now is not mentioned. */
  #messages(lists: Lists, readable: ReadonlySet<string>): { method: string; params?: object }[] {
    const before = this.#lists ?? lists;
    this.#lists = lists;
    const ofLists = (['tools', 'prompts', 'resources'] as const)
      .filter((name) => before[name] !== lists[name])
      .map((name) => ({ method: listMethods[name] }));
    const ofResources = [...this.#changed]
      .filter((address) => readable.has(address))
      .map((uri) => ({ method: 'notifications/resources/updated', params: { uri } }));
    this.#changed.clear();
    return [...ofLists, ...ofResources];
  }

  /**
   * Watches the subscribed resources at the servers that are connected now. Nothing is sent to a server about a resource
   * that the caller may not read now.
   */
  #watchResources(readable: ReadonlySet<string>): void {
    const { session, caller } = this.#options;
    const { subscriptions } = this.#deps.sessions.settings.of(session);
    for (const [address, { stop }] of this.#watched)
      if (!subscriptions.has(address) || !readable.has(address)) {
        stop();
        this.#watched.delete(address);
      }
    for (const { address, serverId, uri } of subscriptions.values()) {
      if (!readable.has(address)) continue;
      const server = this.#deps.mcp.watchable(caller.tenant, serverId);
      const existing = this.#watched.get(address);
      if (existing !== undefined && existing.server === server && existing.uri === uri) continue;
      existing?.stop();
      this.#watched.delete(address);
      if (server === null) continue;
      const stop = server.watch(uri, () => {
        this.#changed.add(address);
        this.#wake();
      });
      this.#watched.set(address, { server, uri, stop });
    }
  }
}
