import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { StreamableHTTPClientTransport, type FetchLike, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Log } from '@countersign/service-kit';
import type { McpServerConfig } from './server-config.ts';

export type TransportOptions = {
  config: McpServerConfig;
  /** Folder for homes of children. */
  scratchDir: string;
  outputBytesMax: number;
  log: Log;
};

/** One line of a child's complaints; more of it would let a child write our log. */
const stderrLengthMax = 500;

export function openTransport(options: TransportOptions): Transport {
  const { config } = options;
  return config.transport === 'http' ? httpTransport(config, options) : stdioTransport(config, options);
}

type Stdio = Extract<McpServerConfig, { transport: 'stdio' }>;
type Http = Extract<McpServerConfig, { transport: 'http' }>;

function stdioTransport(config: Stdio, { scratchDir, outputBytesMax, log }: TransportOptions): Transport {
  const home = join(scratchDir, config.server_id);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const transport = new StdioClientTransport({
    command: config.command,
    args: config.args,
    env: { ...childEnvironment(home), ...config.env },
    cwd: config.cwd ?? home,
    stderr: 'pipe',
    maxBufferSize: outputBytesMax,
  });
  transport.stderr?.on('data', (chunk: Buffer) => {
    log.debug('mcp_server.stderr', {
      server_id: config.server_id,
      line: chunk.toString('utf8').slice(0, stderrLengthMax),
    });
  });
  return transport;
}

/** The SDK adds six names from our own environment unless they are given: of ours a child gets PATH and nothing else. */
function childEnvironment(home: string): Record<string, string> {
  return { HOME: home, LOGNAME: 'nobody', USER: 'nobody', SHELL: '/bin/sh', TERM: 'dumb' };
}

function httpTransport(config: Http, { outputBytesMax }: TransportOptions): Transport {
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: config.headers, redirect: 'error' },
    fetch: boundedFetch(outputBytesMax),
  });
}

/** A body beyond the cap ends as an error instead of filling memory. */
function boundedFetch(bytesMax: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null || isDeclaredWithin(response.headers, bytesMax)) return response;
    let bytes = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.byteLength;
          if (bytes > bytesMax) controller.error(new Error(`The answer has more than ${bytesMax} bytes`));
          else controller.enqueue(chunk);
        },
      }),
    );
    return new Response(counted, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

/** The HTTP parser holds a plain body to its declared length; a compressed one may still unfold. */
function isDeclaredWithin(headers: Headers, bytesMax: number): boolean {
  const declared = headers.get('content-length');
  return declared !== null && Number(declared) <= bytesMax && !headers.has('content-encoding');
}
