import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type CallToolResult,
  type Progress,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';
import { startDeadline } from '@countersign/contracts';
import { hiddenToolsMax, type HiddenTool } from '@countersign/contracts/governance-kernel';
import type { Log } from '@countersign/service-kit';
import type { Permit } from '../boundary/dispatch.ts';
import { definitionHash, parseToolAddress } from '../registry/tool-definition.ts';
import { NotSent } from '../boundary/not-sent.ts';
import { NotReached } from './not-reached.ts';
import { Excess } from './excess.ts';
import { sending } from './sending.ts';
import { hasAtMost } from './bounded-messages.ts';
import { connectProblem } from './connect-problem.ts';
import { LastWords } from './last-words.ts';
import { uniquelyNamed, withSoundTools } from './sound-tools.ts';
import { openTransport, type TransportOptions } from './upstream-transport.ts';

type UpstreamServerOptions = TransportOptions & {
  callTimeoutMs: number;
  /** A list older than this is asked for again before a decision relies on it: how long drift may stay unseen. */
  listAgeMaxMs: number;
  now: () => number;
  /** Told whenever the live definitions were read. */
  onListed(tools: readonly Tool[], hidden: readonly HiddenTool[]): Promise<void>;
};

/** What a call needs beside its permit. */
export type CallOptions = {
  signal: AbortSignal;
  /** Told what the server says of its progress, while the call runs. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Goes along to a server that is reached over HTTP, so that the call is found in both traces. */
  traceparent?: string | undefined;
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
const listedValuesMax = 50_000;
const backoffFirstMs = 250;
const backoffMaxMs = 30_000;

/** Whoever asks the server has to connect to it again. */
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
  readonly #running = new WeakMap<Client, Set<Running>>();
  #failures = 0;
  #hidden: HiddenTool[] = [];
  /** The last problem that was told. */
  #problem: string | null = null;
  #retryAtMs = 0;
  #reconnecting: Promise<void> | null = null;

  constructor(options: UpstreamServerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#fields = { server_id: options.config.server_id };
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

  /** The live definitions, not older than `listAgeMaxMs`. Rejects when the server cannot be asked now. */
  async tools(): Promise<readonly Tool[]> {
    const { client } = this.#live ?? (await this.#connect());
    return this.freshTools() ?? (await this.#refreshOrConnect(client)).tools;
  }

  /** The same, where nobody has to be asked. */
  freshTools(): readonly Tool[] | null {
    const live = this.#live;
    return live !== null && this.#options.now() - live.listedAtMs < this.#options.listAgeMaxMs ? live.tools : null;
  }

  /**
   * Rejects with NotSent, or with what the SDK throws; whether the tool ran is then for the caller to judge. Neither progress nor sending it
   * once more makes the time longer, and of the caller's message nothing goes along but the arguments that were decided about.
   */
  async call(permit: Permit, { signal, onProgress, traceparent }: CallOptions): Promise<CallToolResult> {
    if (this.#live === null) throw new NotSent('The MCP server is not connected');
    const live = this.#live;
    const definition = listedDefinition(live.tools, permit);
    const { args } = permit.take();
    const giveUpAtMs = performance.now() + this.#options.callTimeoutMs;
    const progress = onProgress === undefined ? {} : { onprogress: onProgress };
    const sendTo = (client: Client, toolDefinition: Tool) => {
      const timeout = Math.max(0, giveUpAtMs - performance.now());
      const terms = { signal, timeout, maxTotalTimeout: timeout, toolDefinition, ...progress };
      return this.#counted(client, () =>
        sending.run({ mayStillSend: () => permit.mayStillSend(), traceparent: traceparent ?? null }, () =>
          client.callTool({ name: toolDefinition.name, arguments: args }, terms),
        ),
      );
    };
    try {
      return await sendTo(live.client, definition);
    } catch (error) {
      if (!(error instanceof NotReached)) throw error;
      const { client, tools } = await this.#connectAnew(live.client, { reason: error, signal, giveUpAtMs });
      return await sendTo(client, listedDefinition(tools, permit));
    }
  }

  /** After a call that did not reach a server: it may have been started anew, without the session that we had. */
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
    const lastWords = new LastWords();
    try {
      await client.connect(this.#transport(lastWords), { timeout: connectTimeoutMs });
      const live = await this.#refresh(client);
      this.#closing.signal.throwIfAborted();
      client.onclose = () => this.#lost(client);
      this.#failures = 0;
      this.#problem = null;
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

  #transport(lastWords: LastWords): Transport {
    return withSoundTools(openTransport(this.#options, lastWords), (tool) => this.#hide(tool));
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
    const options = { cacheMode: 'refresh', timeout: this.#options.callTimeoutMs } as const;
    this.#hidden = [];
    const { tools: all } = await client.listTools(undefined, options).catch((error: unknown) => {
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

  #lost(client: Client): void {
    if (this.#live?.client !== client) return;
    this.#live = null;
    if (this.#closing.signal.aborted) return;
    this.#log.warn('mcp_server.lost', this.#fields);
    this.#reconnect();
  }

  #failed(error: unknown, lastWords: LastWords): void {
    if (this.#live !== null) this.#live = null;
    this.#failures += 1;
    this.#retryAtMs = this.#options.now() + backoffMs(this.#failures);
    if (this.#closing.signal.aborted) return;
    const hasEnded = error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed;
    this.#tell(connectProblem(this.#options.config, { error, hasEnded, lastWords }), error);
    this.#reconnect();
  }

  /** Once, until it is another problem or the server was there in between. */
  #tell(problem: string, error: unknown): void {
    this.#log.debug('mcp_server.connect_failed', { ...this.#fields, error, failures: this.#failures });
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

/**
 * The definition that the call was judged by, if the server lists it still: it may have been listed anew since.
 *
 * Without a definition the SDK lists again when the server objects to a header, and sends the call a second time under one decision.
 * Without its output schema, because the SDK reports a result that does not match like a refusal, though the tool has run.
 */
function listedDefinition(tools: readonly Tool[], permit: Permit): Tool {
  const name = parseToolAddress(permit.tool ?? '')?.toolName;
  const listed = tools.find((tool) => tool.name === name);
  if (listed === undefined) throw new NotSent('The MCP server does not list this tool any more');
  if (definitionHash(listed) !== permit.definitionHash)
    throw new NotSent('The definition of the tool changed after the call was decided');
  return { name: listed.name, inputSchema: listed.inputSchema };
}

/** Whether the client that asked can ask no more: it has no connection, or its session is not known. */
function isLost(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 404;
  return !(error instanceof SdkError || error instanceof ProtocolError || error instanceof Excess);
}

function backoffMs(failures: number): number {
  return Math.min(backoffMaxMs, backoffFirstMs * 2 ** Math.min(failures - 1, 16));
}
