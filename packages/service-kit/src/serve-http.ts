import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { ErrorEnvelope } from '@countersign/contracts';
import type { HttpApp } from './http-app.ts';
import { rawErrorResponse } from './send.ts';
import { acceptUpgrades } from './upgrade.ts';

export type ServeOptions = {
  host?: string;
  port: number;
  /** How long a request may take to arrive. Answers may take as long as they like: event streams are never cut. */
  requestTimeoutMs?: number;
  headersTimeoutMs?: number;
  /** Longer than the 60 s of common load balancers, so that they close first and never send into a closing connection. */
  keepAliveTimeoutMs?: number;
  /** How long `close()` waits for requests in flight before it cuts them. */
  graceMs?: number;
};

export type HttpServer = {
  readonly url: string;
  readonly port: number;
  /** For `upgrade` listeners. */
  readonly server: Server;
  /** Stops accepting, ends event streams, waits for what is in flight, cuts it after `graceMs`. Safe to call twice. */
  close(): Promise<void>;
};

/** Starts to listen; resolves when the port is bound. Rejects when it cannot be. */
export async function serveHttp(app: HttpApp, options: ServeOptions): Promise<HttpServer> {
  const host = options.host ?? '127.0.0.1';
  const inFlight = new Set<ServerResponse>();
  let isDraining = false;
  const server = createServer(timeouts(options), (req, res) => {
    inFlight.add(res);
    if (isDraining) res.shouldKeepAlive = false;
    res.once('close', () => {
      inFlight.delete(res);
      if (isDraining) server.closeIdleConnections();
    });
    app.listener(req, res);
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseConnection(error, socket, inFlight));
  acceptUpgrades(server, app);
  await listen(server, options.port, host);
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  const drain = () => {
    isDraining = true;
    app.drain();
    for (const res of inFlight) if (!res.headersSent) res.shouldKeepAlive = false;
    // Balancers open connections ahead of use; Node does not count one without a first request as idle and would wait for it.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
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

/** What Node's parser refuses never becomes a request; it is answered in the same envelope on the bare socket. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket, inFlight: ReadonlySet<ServerResponse>): void {
  const hasAnswer = [...inFlight].some((res) => res.socket === socket && res.headersSent);
  if (!socket.writable || hasAnswer || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const { status, message } = parserFault(error.code);
  socket.end(rawErrorResponse(status, parserEnvelope(message)));
}

function parserFault(code: string | undefined): { status: number; message: string } {
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
