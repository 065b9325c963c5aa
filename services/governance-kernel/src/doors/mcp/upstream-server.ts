import { setTimeout as delay } from 'node:timers/promises';
import { Client, ProtocolError, SdkError, SdkErrorCode, type Tool, type Transport } from '@modelcontextprotocol/client';
import { startDeadline } from '@countersign/contracts';
import { hiddenToolsMax, type HiddenTool, type ServerHealth } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { ServerEgress, type ServerSandbox } from '../../controls/sandbox/server-egress.ts';
import type { Permit } from '../../decision/dispatch.ts';
import { NotSent } from '../../decision/not-sent.ts';
import { NotReached } from './not-reached.ts';
import { sending } from './sending.ts';
import { hasAtMost } from './bounded-messages.ts';
import { withoutSecrets, type Redact } from './configured-secrets.ts';
import { connectProblem } from './connect-problem.ts';
import { LastWords } from './last-words.ts';
import { listedDefinition } from './listed-definition.ts';
import { ServerGuard } from './server-guard.ts';
import { uniquelyNamed, withSoundTools } from './sound-tools.ts';
import { listedValuesMax, listOffered, type Offered } from './offered-resources.ts';
import { withOperations } from './operations.ts';
import type { ToolResult } from './send-operation.ts';
import { permittedSender, type CallOptions } from './permitted-sender.ts';
import { ResourceWatch } from './resource-watch.ts';
import { upstreamTokens, type TokenOptions, type UpstreamTokens } from './upstream-tokens.ts';
import { isLost, isServerFault, openTransport, type TransportOptions } from './upstream-transport.ts';

type UpstreamServerOptions = Omit<TransportOptions, 'terms' | 'egressSocket' | 'tokens'> &
  TokenOptions & {
    /** `null` when the server runs outside a sandbox, or remotely. */
    sandbox: ServerSandbox | null;
    /** Whether a sandbox may reach private addresses. */
    reachesPrivate: boolean;
    callTimeoutMs: number;
    /** The maximum age of a list that a decision relies on, which is how long drift may stay unseen. */
    listAgeMaxMs: number;
    now: () => number;
    clock: () => Date;
    /** Called whenever the live definitions were read. */
    onListed(tools: readonly Tool[], hidden: readonly HiddenTool[]): Promise<void>;
  };

type Live = { client: Client; tools: readonly Tool[]; listedAtMs: number };
type Running = Promise<unknown>;
/** A call that did not reach its server, and the time until which it may be sent again. */
type Resending = { reason: NotReached; signal: AbortSignal; giveUpAtMs: number };

/** Long enough for a package to be downloaded at its first start, short enough that a start does not hang. */
const connectTimeoutMs = 30_000;
/** How long an old stdio server may ignore the new handshake. */
const probeTimeoutMs = 3_000;
/** Ten times as many tools as the largest servers have. A model receives the definition of each tool. */
const toolsMax = 1_000;
/** Decisions wait for lists, and lists are short, so this time suffices. */
const listTimeoutMsMax = 10_000;
const backoffFirstMs = 250;
const backoffMaxMs = 30_000;

/** Thrown when the caller must connect to the server again. */
class LostServer extends Error {}

/** One upstream MCP server. It is connected, listed, and reconnected after a loss. */
export class UpstreamServer {
  readonly #options: UpstreamServerOptions;
  readonly #log: Log;
  readonly #fields: { server_id: string };
  readonly #closing = new AbortController();
  #live: Live | null = null;
  #connecting: Promise<Live> | null = null;
  #listing: Promise<Live> | null = null;
  #offered: { client: Client; atMs: number; offered: Promise<Offered> } | null = null;
  readonly #running = new WeakMap<Client, Set<Running>>();
  #failures = 0;
  #hidden: HiddenTool[] = [];
  /** The connection problem that was last logged as a warning. `null` while there is none. */
  #problem: string | null = null;
  #retryAtMs = 0;
  #reconnecting: Promise<void> | null = null;
  readonly #egress: ServerEgress;
  readonly #tokens: UpstreamTokens | null;
  readonly #redact: Redact;
  readonly #guard: ServerGuard;
  readonly #listTimeoutMs: number;
  readonly #watch: ResourceWatch;

  constructor({ callTimeoutMs: callMsMax, ...rest }: UpstreamServerOptions) {
    const callTimeoutMs = Math.min(callMsMax, rest.config.limits?.call_timeout_ms ?? callMsMax);
    this.#options = { ...rest, callTimeoutMs };
    this.#listTimeoutMs = Math.min(listTimeoutMsMax, callMsMax);
    this.#watch = new ResourceWatch(this.#listTimeoutMs);
    this.#log = rest.log;
    this.#fields = { server_id: rest.config.server_id };
    this.#egress = new ServerEgress(this.#options);
    this.#tokens = upstreamTokens(rest);
    this.#redact = (message) => withoutSecrets(rest.config, message, this.#tokens?.issued() ?? []);
    this.#guard = new ServerGuard({
      ...this.#options,
      listTimeoutMs: this.#listTimeoutMs,
      redact: this.#redact,
      isLost,
      isServerFault,
    });
  }

  /**
   * Resolves after the first attempt, successful or not, since a dead upstream must not keep the kernel from starting.
   */
  async start(): Promise<void> {
    await this.#connect().catch(() => undefined);
  }

  /** The unusable tools of the last list. */
  get hidden(): readonly HiddenTool[] {
    return this.#hidden;
  }

  get isConnected(): boolean {
    return this.#live !== null;
  }

  /** The connection state in this kernel. */
  health(): ServerHealth {
    return this.#guard.view({ failures: this.#live === null ? this.#failures : 0, retryAtMs: this.#retryAtMs });
  }

  /** The live definitions, at most `listAgeMaxMs` old. Rejects when the server cannot be queried now. */
  async tools(): Promise<readonly Tool[]> {
    // Each attempt on an unavailable server may take long, so the next decision does not wait for it.
    if (this.#live === null && this.#failures > 0 && this.#connecting !== null)
      throw new Error('The MCP server is down');
    const { client } = this.#live ?? (await this.#connect());
    return this.freshTools() ?? (await this.#refreshOrConnect(client)).tools;
  }

  /** The live definitions if they are fresh, without a query of the server. */
  freshTools(): readonly Tool[] | null {
    const live = this.#live;
    return live !== null && this.#options.now() - live.listedAtMs < this.#options.listAgeMaxMs ? live.tools : null;
  }

  /** The resources of the server, at most `listAgeMaxMs` old. Rejects when the server cannot be queried. */
  async offered(): Promise<Offered> {
    const { client } = this.#live ?? (await this.#connect());
    const existing = this.#offered;
    if (existing?.client === client && this.#options.now() - existing.atMs < this.#options.listAgeMaxMs)
      return existing.offered;
    const offered = listOffered(client, this.#listTimeoutMs);
    this.#offered = { client, atMs: this.#options.now(), offered };
    return await offered;
  }

  /** Whether the connected server reports changes of its resources. */
  get reportsChanges(): boolean {
    return this.#live?.client.getServerCapabilities()?.resources?.subscribe === true;
  }

  /** Calls `changed` when the server reports a change of the resource. Returns the function that ends this. */
  watch(uri: string, changed: () => void): () => void {
    return this.#watch.watch(uri, changed);
  }

  /**
   * Rejects with NotSent, or with the SDK's error, and then the caller judges whether the tool ran. Neither progress
   * nor a repetition extends the time limit. Only the decided arguments of the message are sent.
   */
  async call(permit: Permit, options: CallOptions): Promise<ToolResult> {
    const { signal } = options;
    if (this.#live === null) throw new NotSent('The MCP server is not connected');
    const live = this.#live;
    this.#assertJudged(permit);
    const definition = listedDefinition(live.tools, permit);
    const { giveUpAtMs, sendTo } = permittedSender(permit, options, this.#options.callTimeoutMs);
    const send = (client: Client, tool: Tool) => this.#counted(client, () => sendTo(client, tool));
    return await this.#guard.call({
      ...{ tenant: permit.tenant, signal },
      send: async () => {
        try {
          return await send(live.client, definition);
        } catch (error) {
          if (!(error instanceof NotReached)) throw error;
          const { client, tools } = await this.#connectAnew(live.client, { reason: error, signal, giveUpAtMs });
          return await send(client, listedDefinition(tools, permit));
        }
      },
    });
  }

  /** Checks that the process runs under the grant that was judged. */
  #assertJudged(permit: Permit): void {
    const { config, sandbox } = this.#options;
    if (config.transport === 'stdio' && permit.sandboxGrantHash !== (sandbox?.hash ?? null))
      throw new NotSent('The sandbox grant of the server changed after the call was decided');
  }

  /** Used after a call that did not reach a server, which may have been restarted without our session. */
  async #connectAnew(client: Client, { reason, signal, giveUpAtMs }: Resending): Promise<Live> {
    this.#drop(client);
    const deadline = startDeadline({ ms: Math.max(0, giveUpAtMs - performance.now()), signal });
    const over = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () => reject(reason), { once: true });
    });
    try {
      deadline.signal.throwIfAborted();
      return this.#live ?? (await Promise.race([this.#connect(), over]));
    } catch {
      throw reason;
    } finally {
      deadline.clear();
    }
  }

  /**
   * Lists the tools again. If the connection is lost, connects and lists once more, which is safe because listing has
   * no effect.
   */
  async #refreshOrConnect(client: Client): Promise<Live> {
    try {
      return await this.#refresh(client);
    } catch (error) {
      if (!(error instanceof LostServer)) throw error;
      this.#drop(client);
      return await this.#connect();
    }
  }

  async #counted<Result>(client: Client, call: () => Promise<Result>): Promise<Result> {
    const running = call();
    const ofClient = this.#running.get(client) ?? new Set();
    this.#running.set(client, ofClient.add(running));
    try {
      return await running;
    } finally {
      ofClient.delete(running);
    }
  }

  /** Calls that reached the server over this client continue. It is closed after the last of them. */
  #drop(client: Client): void {
    if (this.#live?.client === client) this.#live = null;
    void Promise.allSettled([...(this.#running.get(client) ?? [])]).then(() => client.close().catch(() => undefined));
  }

  /** Running calls continue. A server that ends or is unreachable from now on is not reported. */
  beginClose(): void {
    this.#closing.abort();
    this.#watch.close();
  }

  async close(): Promise<void> {
    this.beginClose();
    const live = this.#live ?? (await this.#connecting?.catch(() => null)) ?? null;
    this.#live = null;
    await live?.client.close().catch(() => undefined);
    await this.#reconnecting;
    await this.#egress.close();
  }

  #connect(): Promise<Live> {
    if (this.#connecting !== null) return this.#connecting;
    if (this.#closing.signal.aborted) return Promise.reject(new Error('The kernel is stopping'));
    if (this.#options.now() < this.#retryAtMs) return Promise.reject(new Error('The MCP server is down'));
    this.#connecting = this.#open().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #open(): Promise<Live> {
    const client = new Client(
      { name: 'countersign', version: '0.1.0' },
      // No capability is declared and no request is fulfilled automatically, since a server must not reach callers
      // unnoticed.
      {
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeTimeoutMs } },
        inputRequired: { autoFulfill: false },
      },
    );
    const lastWords = new LastWords(this.#redact);
    try {
      await client.connect(await this.#transport(lastWords), { timeout: connectTimeoutMs });
      const live = await this.#refresh(client);
      this.#closing.signal.throwIfAborted();
      client.onclose = () => this.#lost(client);
      // Over stdio the logs of all calls share one pipe, and no line identifies its call, so they are dropped.
      client.setNotificationHandler('notifications/message', ({ params }) => sending.getStore()?.logs?.relay(params));
      this.#watch.connected(client);
      this.#failures = 0;
      this.#problem = null;
      this.#guard.connected();
      this.#log.info('mcp_server.connected', {
        ...this.#fields,
        tools: live.tools.length,
        protocol_version: client.getNegotiatedProtocolVersion(),
      });
      return live;
    } catch (error) {
      await client.close().catch(() => undefined);
      this.#failed(error, lastWords);
      throw error;
    }
  }

  async #transport(lastWords: LastWords): Promise<Transport> {
    const terms = this.#options.sandbox?.terms ?? null;
    const refusal = terms === null ? null : await this.#options.host.refusal(terms);
    if (refusal !== null) throw new Error(refusal);
    const options = { ...this.#options, terms, tokens: this.#tokens, egressSocket: await this.#egress.open() };
    return withSoundTools(openTransport(options, lastWords), (tool) => this.#hide(tool));
  }

  #hide(tool: HiddenTool): void {
    if (this.#hidden.length < hiddenToolsMax) this.#hidden.push(tool);
  }

  #refresh(client: Client): Promise<Live> {
    this.#listing ??= this.#list(client).finally(() => {
      this.#listing = null;
    });
    return this.#listing;
  }

  async #list(client: Client): Promise<Live> {
    const listedAtMs = this.#options.now();
    const options = { cacheMode: 'refresh', timeout: this.#listTimeoutMs } as const;
    this.#hidden = [];
    const all = await this.#guard
      .list(() => this.#listAll(client, options))
      .catch((error: unknown) => {
        throw isLost(error) ? new LostServer('The MCP server has gone', { cause: error }) : error;
      });
    // Each page is bounded. All definitions together are hashed at once and compared with the registry, so they are
    // bounded too.
    if (all.length > toolsMax || !hasAtMost(listedValuesMax, all))
      throw new Error('The MCP server lists more tools than the kernel can compare with their pins');
    const tools = uniquelyNamed(all, (tool) => this.#hide(tool));
    await this.#options.onListed(tools, this.#hidden);
    this.#live = { client, tools, listedAtMs };
    return this.#live;
  }

  async #listAll(client: Client, options: { cacheMode: 'refresh'; timeout: number }): Promise<Tool[]> {
    const { tools } = await client.listTools(undefined, options);
    return await withOperations(client, tools, {
      ...options,
      hide: (tool) => this.#hide(tool),
      isRefusal: (error) => error instanceof ProtocolError,
    });
  }

  #lost(client: Client): void {
    if (this.#live?.client !== client) return;
    this.#live = null;
    if (this.#closing.signal.aborted) return;
    this.#guard.unreachable('The connection ended');
    this.#log.warn('mcp_server.lost', this.#fields);
    this.#reconnect();
  }

  #failed(error: unknown, lastWords: LastWords): void {
    if (this.#live !== null) this.#live = null;
    this.#failures += 1;
    this.#retryAtMs = this.#options.now() + backoffMs(this.#failures);
    if (this.#closing.signal.aborted) return;
    const hasEnded = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
    const { config, sandbox } = this.#options;
    this.#tell(
      connectProblem(config, { error, hasEnded, lastWords, terms: sandbox?.terms ?? null, redact: this.#redact }),
    );
    this.#reconnect();
  }

  /** Logs each failure for debugging, and a warning once until the problem changes or the server becomes reachable. */
  #tell(problem: string): void {
    this.#guard.unreachable(problem);
    this.#log.debug('mcp_server.connect_failed', { ...this.#fields, problem, failures: this.#failures });
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.#log.warn('mcp_server.unreachable', { ...this.#fields, problem });
  }

  #reconnect(): void {
    if (this.#reconnecting !== null || this.#closing.signal.aborted) return;
    this.#reconnecting = this.#retryUntilConnected().finally(() => {
      this.#reconnecting = null;
    });
  }

  async #retryUntilConnected(): Promise<void> {
    const isOver = () => this.#closing.signal.aborted;
    while (this.#live === null && !isOver()) {
      const waitMs = Math.max(0, this.#retryAtMs - this.#options.now());
      await delay(waitMs, undefined, { signal: this.#closing.signal, ref: false }).catch(() => undefined);
      if (!isOver()) await this.#connect().catch(() => undefined);
    }
  }
}

function backoffMs(failures: number): number {
  return Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(failures - 1, 16));
}
