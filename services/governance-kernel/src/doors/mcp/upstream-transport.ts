import {
  ProtocolError,
  ReadBuffer,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { NotSent } from '../../decision/not-sent.ts';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Log } from '@countersign/service-kit';
import type { Dispatcher } from 'undici';
import { messageValuesMax, withBoundedMessages } from './bounded-messages.ts';
import { ValueCount } from './count-values.ts';
import { declaringCaller } from './declaring-caller.ts';
import { ExactAnswers } from './exact-answers.ts';
import { Excess } from './excess.ts';
import type { LastWords } from './last-words.ts';
import { NotReached, Suspended } from './not-reached.ts';
import { pooledFetch } from './pooled-fetch.ts';
import type { McpServerConfig } from './server-config.ts';
import { RefusedQuestion } from './send-operation.ts';
import { stdioLaunch, type Stdio } from './stdio-launch.ts';
import { withBearer, type UpstreamTokens } from './upstream-tokens.ts';
import type { StdioAccount } from '../../controls/sandbox/stdio-account.ts';
import type { SandboxTerms } from '@countersign/contracts/governance-kernel';
import type { SandboxHost } from '../../controls/sandbox/host.ts';

export type TransportOptions = {
  /** The key of the server in the registry. */
  key: string;
  config: McpServerConfig;
  /** The folder in which each child process gets its home folder. */
  scratchDir: string;
  /** The account under which child processes run. `null` for the account of this process. */
  account: StdioAccount | null;
  host: SandboxHost;
  /** The sandbox of a child. `null` when a child runs without a sandbox, with the rights of the account. */
  terms: SandboxTerms | null;
  /** The socket for traffic out of the sandbox. `null` for none. */
  egressSocket: string | null;
  /** Access tokens for a server over HTTP. `null` when the server needs no tokens, but only its configured headers. */
  tokens: UpstreamTokens | null;
  outputBytesMax: number;
  /** The connections to HTTP servers. */
  agent: Dispatcher;
  log: Log;
};

/**
 * The limit of values in a line: five times the limit of a message. A server that exceeds it is disconnected before the
 * line is parsed.
 */
const lineValuesMax = 5 * messageValuesMax;

const lineFeed = 0x0a;

/** The longest part of a child's stderr output that one log entry contains. More would let a child flood our log. */
const stderrLengthMax = 500;

/** `lastWords` receives the stderr of a child. */
export function openTransport(options: TransportOptions, lastWords: LastWords): Transport {
  const { config } = options;
  const exact = new ExactAnswers();
  const transport =
    config.transport === 'http'
      ? httpTransport(config, { ...options, exact })
      : stdioTransport(config, { ...options, exact, lastWords });
  return withBoundedMessages(declaringCaller(exact.of(transport)));
}

type Http = Extract<McpServerConfig, { transport: 'http' }>;

type HttpOptions = TransportOptions & { exact: ExactAnswers };
type StdioOptions = HttpOptions & { lastWords: LastWords };

function stdioTransport(config: Stdio, options: StdioOptions): Transport {
  const { outputBytesMax, log, lastWords, exact } = options;
  const transport = new StdioClientTransport({
    ...stdioLaunch(config, options),
    stderr: 'pipe',
    maxBufferSize: outputBytesMax,
  });
  // The SDK has no option for its buffer, so ours replaces it here. A transport class of our own would not do: the SDK
  // starts the second child, which probes for the protocol, only for its own class.
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

/**
 * Splits whole lines and passes them through `exact`. Refuses a line that is too long or has too many values, and the
 * SDK then closes the transport.
 */
class ExactLines extends ReadBuffer {
  readonly #values = new ValueCount({ valuesMax: lineValuesMax, framing: 'lines' });
  readonly #exact: ExactAnswers;
  readonly #bytesMax: number;
  /** The pieces of the unfinished line. */
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
      super.append(Buffer.from(lines.map((line) => `${this.#exact.exactText(line)}\n`).join('')));
    }
    const rest = chunk.subarray(end + 1);
    this.#bytes += rest.length;
    if (this.#bytes > this.#bytesMax) throw new Error(`A line has more than ${this.#bytesMax} bytes`);
    if (rest.length > 0) this.#pieces.push(rest);
  }
}

function httpTransport(config: Http, { agent, outputBytesMax, exact, tokens }: HttpOptions): Transport {
  const fetch = pooledFetch(agent, { bytesMax: outputBytesMax, reportOf: (message) => exact.exactText(message) });
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: config.headers },
    fetch: tokens === null ? fetch : withBearer(tokens, fetch),
  });
}

/**
 * Whether an error shows that the server did not answer. An error that the server returned counts as an answer, except
 * an HTTP status of 500 and above, and 401 or 404 to a call.
 */
export function isServerFault(error: unknown): boolean {
  if (error instanceof NotReached) return true;
  if (error instanceof NotSent || error instanceof RefusedQuestion) return false;
  if (error instanceof ProtocolError || error instanceof Excess) return false;
  if (error instanceof SdkHttpError) return error.status >= 500;
  return !(error instanceof SdkError) || error.code !== SdkErrorCode.InvalidResult;
}

/** Whether a client has lost its connection, or the server does not accept its session or credential. */
export function isLost(error: unknown): boolean {
  if (error instanceof SdkHttpError) return error.status === 401 || error.status === 404;
  if (error instanceof Suspended) return false;
  return !(error instanceof SdkError || error instanceof ProtocolError || error instanceof Excess);
}
