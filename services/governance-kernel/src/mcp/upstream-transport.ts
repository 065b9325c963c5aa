import { chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ReadBuffer, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Log } from '@countersign/service-kit';
import type { Dispatcher } from 'undici';
import { messageValuesMax, withBoundedMessages } from './bounded-messages.ts';
import { ValueCount } from './count-values.ts';
import { ExactAnswers } from './exact-answers.ts';
import type { LastWords } from './last-words.ts';
import { pooledFetch } from './pooled-fetch.ts';
import type { McpServerConfig } from './server-config.ts';
import { commandUnder, type StdioAccount } from './stdio-account.ts';

export type TransportOptions = {
  config: McpServerConfig;
  /** Folder for homes of children. */
  scratchDir: string;
  /** Whom children run as; null: as this process. */
  account: StdioAccount | null;
  outputBytesMax: number;
  /** The connections to HTTP servers. */
  agent: Dispatcher;
  log: Log;
};

/** Above what is withheld message by message: a server that writes such a line is let go, before anybody parses it. */
const lineValuesMax = 5 * messageValuesMax;

const lineFeed = 0x0a;

/** One line of a child's complaints; more of it would let a child write our log. */
const stderrLengthMax = 500;

/** `lastWords` hears what a child writes to its stderr. */
export function openTransport(options: TransportOptions, lastWords: LastWords): Transport {
  const { config } = options;
  const exact = new ExactAnswers();
  const transport =
    config.transport === 'http'
      ? httpTransport(config, { ...options, exact })
      : stdioTransport(config, { ...options, exact, lastWords });
  return withBoundedMessages(exact.of(transport));
}

type Stdio = Extract<McpServerConfig, { transport: 'stdio' }>;
type Http = Extract<McpServerConfig, { transport: 'http' }>;

type HttpOptions = TransportOptions & { exact: ExactAnswers };
type StdioOptions = HttpOptions & { lastWords: LastWords };

function stdioTransport(config: Stdio, options: StdioOptions): Transport {
  const { scratchDir, account, outputBytesMax, log, lastWords, exact } = options;
  const home = homeOf(config.server_id, { scratchDir, account });
  const transport = new StdioClientTransport({
    ...(account === null ? { command: config.command, args: config.args } : commandUnder(account, config)),
    env: { ...childEnvironment(home), ...config.env },
    cwd: config.cwd ?? home,
    stderr: 'pipe',
    maxBufferSize: outputBytesMax,
  });
  // The SDK takes no buffer from us, and knows its own class alone when it starts a second child to probe for the protocol.
  Object.assign(transport, { _readBuffer: new ExactLines(exact, outputBytesMax) });
  transport.stderr?.on('data', (chunk: Buffer) => {
    lastWords.take(chunk);
    log.debug('mcp_server.stderr', {
      server_id: config.server_id,
      line: chunk.toString('utf8').slice(0, stderrLengthMax),
    });
  });
  return transport;
}

/** Whole lines, as `exact` tells them. Refuses one that is too long or made of too many values; the SDK then closes the transport. */
class ExactLines extends ReadBuffer {
  readonly #values = new ValueCount({ valuesMax: lineValuesMax, framing: 'lines' });
  readonly #exact: ExactAnswers;
  readonly #bytesMax: number;
  /** Of the line that has not ended. */
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(exact: ExactAnswers, bytesMax: number) {
    super({ maxBufferSize: bytesMax });
    this.#exact = exact;
    this.#bytesMax = bytesMax;
  }

  override append(chunk: Buffer): void {
    this.#values.add(chunk);
    const end = chunk.lastIndexOf(lineFeed);
    if (end !== -1) {
      const lines = Buffer.concat([...this.#pieces, chunk.subarray(0, end)])
        .toString('utf8')
        .split('\n');
      this.#pieces = [];
      this.#bytes = 0;
      super.append(Buffer.from(lines.map((line) => `${this.#exact.told(line)}\n`).join('')));
    }
    const rest = chunk.subarray(end + 1);
    this.#bytes += rest.length;
    if (this.#bytes > this.#bytesMax) throw new Error(`A line has more than ${this.#bytesMax} bytes`);
    if (rest.length > 0) this.#pieces.push(rest);
  }
}

/** A folder of the child's own. On the way to it others may pass, and see nothing. */
function homeOf(serverId: string, { scratchDir, account }: Pick<TransportOptions, 'scratchDir' | 'account'>): string {
  const home = join(scratchDir, serverId);
  mkdirSync(scratchDir, { recursive: true, mode: account === null ? 0o700 : 0o711 });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (account !== null) chownSync(home, account.uid, account.gid);
  return home;
}

/** The SDK adds six names from our own environment unless they are given: of ours a child gets PATH and nothing else. */
function childEnvironment(home: string): Record<string, string> {
  return { HOME: home, TMPDIR: home, LOGNAME: 'nobody', USER: 'nobody', SHELL: '/bin/sh', TERM: 'dumb' };
}

function httpTransport(config: Http, { agent, outputBytesMax, exact }: HttpOptions): Transport {
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: config.headers },
    fetch: pooledFetch(agent, { bytesMax: outputBytesMax, told: (message) => exact.told(message) }),
  });
}
