import { setTimeout as delay } from 'node:timers/promises';
import { Client, ProtocolError, SdkError, SdkErrorCode, type Tool, type Transport } from '@modelcontextprotocol/client';
import { startDeadline } from '@countersign/contracts';
import { hiddenToolsMax, type HiddenTool, type ServerHealth } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import { ServerEgress, type ServerSandbox } from '../sandbox/server-egress.ts';
import type { Permit } from '../boundary/dispatch.ts';
import { NotSent } from '../boundary/not-sent.ts';
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
import { upstreamTokens, type TokenOptions, type UpstreamTokens } from './upstream-tokens.ts';
import { isLost, isServerFault, openTransport, type TransportOptions } from './upstream-transport.ts';

type UpstreamServerOptions = Omit<TransportOptions, 'terms' | 'egressSocket' | 'tokens'> &
  TokenOptions & {
    /** `null`: the server runs beside the kernel, or elsewhere. */
    sandbox: ServerSandbox | null;
    /** Private addresses are no destinations of a sandbox without it. */
    reachesPrivate: boolean;
    callTimeoutMs: number;
    /** A list older than this is asked for again before a decision relies on it: how long drift may stay unseen. */
    listAgeMaxMs: number;
    now: () => number;
    clock: () => Date;
    /** Told whenever the live definitions were read. */
    onListed(tools: readonly Tool[], hidden: readonly HiddenTool[]): Promise<void>;
  };

type Live = { client: Client; tools: readonly Tool[]; listedAtMs: number };
type Running = Promise<unknown>;
/** A call that did not reach its server, and how long it may be tried. */
type Resending = { reason: NotReached; signal: AbortSignal; giveUpAtMs: number };

/** Long enough for a package to be fetched by its first start, short enough that a start does not hang. */
const connectTimeoutMs = 30_000;
/** Silence of an old stdio server on the new handshake. */
const probeTimeoutMs = 3_000;
/** Ten times what the largest servers have; a model is told of each. */
const toolsMax = 1_000;
/** Lists are short. Decisions wait for them. */
const listTimeoutMsMax = 10_000;
const backoffFirstMs = 250;
const backoffMaxMs = 30_000;

/** The caller has to connect to the server again. */
class LostServer extends Error {}

/** One upstream MCP server: connected, listed, connected again when it went away. */
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
  /** The last problem that was told. */
  #problem: string | null = null;
  #retryAtMs = 0;
  #reconnecting: Promise<void> | null = null;
  readonly #egress: ServerEgress;
  readonly #tokens: UpstreamTokens | null;
  readonly #redact: Redact;
  readonly #guard: ServerGuard;
  readonly #listTimeoutMs: number;

  constructor({ callTimeoutMs: callMsMax, ...rest }: UpstreamServerOptions) {
    const callTimeoutMs = Math.min(callMsMax, rest.config.limits?.call_timeout_ms ?? callMsMax);
    this.#options = { ...rest, callTimeoutMs };
    this.#listTimeoutMs = Math.min(listTimeoutMsMax, callMsMax);
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

  /** Resolves after the first attempt, whether it succeeded or not: a dead upstream must not keep the kernel from starting. */
  async start(): Promise<void> {
    await this.#connect().catch(() => undefined);
  }

  /** The tools of the last list that cannot be used. */
  get hidden(): readonly HiddenTool[] {
    return this.#hidden;
  }

  get isConnected(): boolean {
    return this.#live !== null;
  }

  /** The connection as this kernel sees it now. */
  health(): ServerHealth {
    return this.#guard.view({ failures: this.#live === null ? this.#failures : 0, retryAtMs: this.#retryAtMs });
  }

  /** The live definitions, not older than `listAgeMaxMs`. Rejects when the server cannot be asked now. */
  async tools(): Promise<readonly Tool[]> {
    // Each attempt on a server that is down may take long. The next decision need not wait for it.
    if (this.#live === null && this.#failures > 0 && this.#connecting !== null)
      throw new Error('The MCP server is down');
    const { client } = this.#live ?? (await this.#connect());
    return this.freshTools() ?? (await this.#refreshOrConnect(client)).tools;
  }

  /** The same, without a query of the server. */
  freshTools(): readonly Tool[] | null {
    const live = this.#live;
    return live !== null && this.#options.now() - live.listedAtMs < this.#options.listAgeMaxMs ? live.tools : null;
  }

  /**
   * The resources that the server offers now, not older than `listAgeMaxMs`. Rejects when the server cannot be asked.
   */
  async offered(): Promise<Offered> {
    const { client } = this.#live ?? (await this.#connect());
    const known = this.#offered;
    if (known?.client === client && this.#options.now() - known.atMs < this.#options.listAgeMaxMs) return known.offered;
    const offered = listOffered(client, this.#listTimeoutMs);
    this.#offered = { client, atMs: this.#options.now(), offered };
    return await offered;
  }

  /**
   * Rejects with NotSent, or with what the SDK throws; whether the tool ran is then for the caller to judge. Neither progress nor sending it
   * once more makes the time longer, and of the caller's message nothing goes along but the arguments that were decided about.
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

  /** The process runs under the grant that the call was judged by. */
  #assertJudged(permit: Permit): void {
    const { config, sandbox } = this.#options;
    if (config.transport === 'stdio' && permit.sandboxGrantHash !== (sandbox?.hash ?? null))
      throw new NotSent('The sandbox grant of the server changed after the call was decided');
  }

  /** Used after a call that did not reach a server: it may have been restarted, without the session that we had. */
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

  /** Listing may be repeated: a client that gets no list has lost its server. */
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

  /** Calls of this client that reached the server go on: it is closed behind the last of them. */
  #drop(client: Client): void {
    if (this.#live?.client === client) this.#live = null;
    void Promise.allSettled([...(this.#running.get(client) ?? [])]).then(() => client.close().catch(() => undefined));
  }

  /** Calls that run go on. That the server ends, or cannot be reached, is from now on no news. */
  beginClose(): void {
    this.#closing.abort();
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
      // No capability is declared and nothing is fulfilled on its own: an upstream server may not ask through us.
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
      // Over stdio the logs of all calls come by one pipe, and nothing in a line names its call: those are dropped.
      client.setNotificationHandler('notifications/message', ({ params }) => sending.getStore()?.logs?.relay(params));
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
    // Pages are bounded one by one; each definition of all of them is hashed in one go, and held against the registry.
    if (all.length > toolsMax || !hasAtMost(listedValuesMax, all))
      throw new Error('The MCP server lists more tools than can be held against their pins');
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

  /** Once, until it is another problem or the server was there in between. */
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
