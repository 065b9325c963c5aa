import { request, type Agent, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { request as requestByTls } from 'node:https';
import type { Duplex } from 'node:stream';
import type { AppError } from '@countersign/contracts';
import { upgradeOf } from '@countersign/service-kit';
import { forwardedUrl } from './forwarded-url.ts';
import { passBack } from './pass-back.ts';

type Forwarded = {
  req: IncomingMessage;
  res: ServerResponse;
  /** The headers that are sent in place of the caller's. */
  headers: IncomingHttpHeaders;
  /** Aborted when the caller goes away, and when the process drains. */
  signal: AbortSignal;
  /** Aborted when the session of the caller ends. */
  over: AbortSignal;
};

/**
 * Forwards a WebSocket unchanged in both directions. Resolves when it has closed or was refused, and throws the error
 * to answer instead.
 */
export type ForwardSocket = (forwarded: Forwarded) => Promise<void>;

type Target = { url: string; agent: Agent; answerMaxMs: number; unavailable(cause: unknown): AppError };

/** The longest wait for the answer to a handshake. The other service normally answers at once. */
const openMaxMs = 10_000;
/**
 * The other service learns of an ended session too, and closes with its own reason. A socket that is still open after
 * this time is cut.
 */
const lastWordMs = 500;

/**
 * The headers of a handshake (RFC 6455 §4.1). Extensions are excluded, so that no attacker-controlled text is
 * compressed together with secrets.
 */
const handshake: ReadonlySet<string> = new Set([
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
]);

export function createForwardSocket({ url, agent, answerMaxMs, unavailable }: Target): ForwardSocket {
  return ({ req, res, headers, signal, over }) => {
    const { socket, head } = upgradeOf(req);
    // A socket that was closed before this call emits no further event.
    if (socket.destroyed) return Promise.resolve();
    const address = new URL(forwardedUrl(req.url ?? '/'), url);
    return new Promise((resolve, reject) => {
      const ask = address.protocol === 'https:' ? requestByTls : request;
      const handshakeRequest = ask(address, { agent, headers: { ...headers, ...handshakeIn(req) } });
      const opening = setTimeout(() => handshakeRequest.destroy(new Error('No answer to the handshake')), openMaxMs);
      const cut = () => {
        socket.destroy();
        handshakeRequest.destroy();
      };
      const timer = setTimeout(cut, answerMaxMs);
      signal.addEventListener('abort', cut, { once: true });
      let lastWord: NodeJS.Timeout | undefined;
      const cutSoon = () => void (lastWord = setTimeout(cut, lastWordMs));
      over.addEventListener('abort', cutSoon, { once: true });
      socket.once('close', () => {
        clearTimeout(timer);
        clearTimeout(lastWord);
        signal.removeEventListener('abort', cut);
        over.removeEventListener('abort', cutSoon);
        handshakeRequest.destroy();
        resolve();
      });
      handshakeRequest.once('close', () => clearTimeout(opening));
      handshakeRequest.once('upgrade', (answer: IncomingMessage, upstream: Duplex, first: Buffer) => {
        socket.write(handshakeOf(answer));
        join({ socket, head }, { socket: upstream, head: first });
      });
      handshakeRequest.once('response', (answer) => {
        if (!passBack(answer, res, false)) reject(unavailable(new Error('This answer cannot be forwarded')));
      });
      handshakeRequest.once('error', (error) => {
        if (!res.headersSent && !socket.destroyed) reject(unavailable(error));
      });
      handshakeRequest.end();
    });
  };
}

function handshakeIn({ headers }: IncomingMessage): IncomingHttpHeaders {
  const accepted = Object.entries(headers).filter(([name]) => handshake.has(name));
  return { ...Object.fromEntries(accepted), connection: 'Upgrade', upgrade: 'websocket' };
}

type End = { socket: Duplex; head: Buffer };

/**
 * Connects two sides, and ends each with the other. A side that reads slowly makes the other side wait. The waiting
 * side has its own limit for this.
 */
function join(left: End, right: End): void {
  for (const [from, to] of [
    [left, right],
    [right, left],
  ] as const) {
    if (from.head.length > 0) from.socket.unshift(from.head);
    from.socket.on('error', () => to.socket.destroy());
    from.socket.once('close', () => to.socket.destroy());
    from.socket.pipe(to.socket);
  }
}

function handshakeOf({ headers }: IncomingMessage): string {
  const { 'sec-websocket-accept': accept = '', 'sec-websocket-protocol': protocol } = headers;
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    ...(protocol === undefined ? [] : [`Sec-WebSocket-Protocol: ${protocol}`]),
    '\r\n',
  ].join('\r\n');
}
