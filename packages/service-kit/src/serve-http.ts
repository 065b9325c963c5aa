import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ErrorEnvelope } from '@countersign/contracts';
import type { HttpApp } from './http-app.ts';
import { rawErrorResponse } from './send.ts';
import { acceptUpgrades } from './upgrade.ts';

export type ServeOptions = {
  host?: string;
  port: number;
  /** How long a request may take to arrive. Answers have no such limit, since event streams stay open. */
  requestTimeoutMs?: number;
  headersTimeoutMs?: number;
  /**
   * Longer than the 60 s of common load balancers, so that they close first and never send into a closing connection.
   */
  keepAliveTimeoutMs?: number;
  /** How long `close()` waits for requests in flight before it cuts them. */
  graceMs?: number;
};

export type HttpServer = {
  readonly url: string;
  readonly port: number;
  /** For `upgrade` listeners. */
  readonly server: Server;
  /**
   * Stops accepting, ends event streams, waits for requests in flight, and cuts them after `graceMs`. Safe to call
   * twice.
   */
  close(): Promise<void>;
};

/**
 * Services read about a dozen header lines, and proxies add more. Node itself silently drops the lines beyond its
 * limit.
 */
const headerLinesMax = 1_000;

/** Starts to listen. Resolves when the port is bound, and rejects when it cannot be bound. */
export async function serveHttp(app: HttpApp, options: ServeOptions): Promise<HttpServer> {
  const host = options.host ?? '127.0.0.1';
  /**
   * Each open connection with the answers that it waits for. Node reports no end of an answer that waits behind
   * another.
   */
  const pending = new Map<Socket, Set<ServerResponse>>();
  const pendingOf = (socket: Socket) => pending.get(socket) ?? new Set<ServerResponse>();
  let isDraining = false;
  const server = createServer(timeouts(options), (req, res) => {
    // An earlier request on this connection was refused, so this one gets no answer.
    if (!req.socket.writable) return;
    const answers = pendingOf(req.socket);
    if (hasTooManyLines(req)) return refuseConnection(req.socket, tooManyLines, answers);
    answers.add(res);
    if (isDraining) res.shouldKeepAlive = false;
    res.once('close', () => {
      answers.delete(res);
      if (isDraining) server.closeIdleConnections();
    });
    app.listener(req, res);
  });
  server.maxHeadersCount = 0;
  server.on('connection', (socket: Socket) => {
    if (pending.has(socket)) return;
    pending.set(socket, new Set());
    socket.once('close', () => pending.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET') socket.destroy();
    else refuseConnection(socket, parserFault(error.code), pendingOf(socket));
  });
  acceptUpgrades(server, app, (req) => {
    const answers = pendingOf(req.socket);
    const isAlone = answers.size === 0;
    if (isAlone && !hasTooManyLines(req)) return true;
    refuseConnection(req.socket, isAlone ? tooManyLines : parserFault(undefined), answers);
    return false;
  });
  await listen(server, options.port, host);
  const { port } = server.address() as AddressInfo; // a listening TCP server has such an address
  const drain = () => {
    isDraining = true;
    app.drain();
    for (const [socket, answers] of pending) {
      for (const res of answers) if (!res.headersSent) res.shouldKeepAlive = false;
      // Balancers open connections ahead of use. Node does not count a connection without a first request as idle, and
      // would wait for it.
      if (socket.bytesRead === 0) socket.destroy();
    }
    return closeServer(server, options.graceMs ?? 10_000);
  };
  let closing: Promise<void> | null = null;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    port,
    server,
    close: () => (closing ??= drain()),
  };
}

function timeouts(options: ServeOptions) {
  return {
    requestTimeout: options.requestTimeoutMs ?? 60_000,
    headersTimeout: options.headersTimeoutMs ?? 15_000,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    noDelay: true,
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const force = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(force);
      resolve();
    });
    server.closeIdleConnections();
  });
}

type Fault = { status: number; message: string };

const tooManyLines: Fault = {
  status: 431,
  message: `The request has more than ${headerLinesMax} header lines`,
};

function hasTooManyLines({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.length / 2 > headerLinesMax;
}

/**
 * Answers a request that never reaches a handler, in the same envelope on the bare socket, and ends the connection. If
 * an earlier request still waits for its answer, the connection ends without an answer. Otherwise the caller would take
 * this answer for the answer to the earlier request.
 */
function refuseConnection(socket: Socket, fault: Fault, answers: ReadonlySet<ServerResponse>): void {
  const isAwaited = [...answers].some(({ headersSent, req }) => headersSent || req.complete);
  if (!socket.writable || isAwaited) socket.destroy();
  else socket.end(rawErrorResponse(fault.status, parserEnvelope(fault.message)));
}

function parserFault(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return { status: 431, message: 'The request header is too large' };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return { status: 408, message: 'The request did not arrive in time' };
  return { status: 400, message: 'The request is not HTTP/1.1' };
}

function parserEnvelope(message: string): ErrorEnvelope {
  const requestId = randomUUID();
  return {
    error: {
      message,
      type: 'invalid_request_error',
      code: 'INVALID_REQUEST',
      param: null,
      reason_code: null,
      request_id: requestId,
      retryable: false,
    },
  };
}
