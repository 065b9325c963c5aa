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
  /** The headers that replace the caller's. */
  headers: IncomingHttpHeaders;
  /** Aborted when the caller goes away, and when the process drains. */
  signal: AbortSignal;
  /** Aborted when the session is over by which the caller comes. */
  over: AbortSignal;
};

/** Passes a WebSocket on, byte for byte in both directions. Resolves when it is over, or was refused; throws what is to be answered instead. */
export type ForwardSocket = (forwarded: Forwarded) => Promise<void>;

type Target = { url: string; agent: Agent; answerMaxMs: number; unavailable(cause: unknown): AppError };

/** An opening handshake is one read of the other service's. */
const openMaxMs = 10_000;
/**
 * The other service knows of the end of a session too, and closes with its own reason; a socket that does not get it is
 * cut.
 */
const lastWordMs = 500;

/**
 * The headers of a handshake (RFC 6455 §4.1). Without extensions, so no text of a stranger is compressed. Without
 * extensions: nothing is packed that a stranger may have had a part in.
 */
const handshake: ReadonlySet<string> = new Set([
  'sec-websocket-key',
  'sec-websocket-version',
  'sec-websocket-protocol',
]);

export function createForwardSocket({ url, agent, answerMaxMs, unavailable }: Target): ForwardSocket {
  return ({ req, res, headers, signal, over }) => {
    const { socket, head } = upgradeOf(req);
    // A caller that left before this call is not reported again.
    if (socket.destroyed) return Promise.resolve();
    const address = new URL(forwardedUrl(req.url ?? '/'), url);
    return new Promise((resolve, reject) => {
      const ask = address.protocol === 'https:' ? requestByTls : request;
      const asked = ask(address, { agent, headers: { ...headers, ...handshakeIn(req) } });
      const opening = setTimeout(() => asked.destroy(new Error('No answer to the handshake')), openMaxMs);
      const cut = () => {
        socket.destroy();
        asked.destroy();
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
        asked.destroy();
        resolve();
      });
      asked.once('close', () => clearTimeout(opening));
      asked.once('upgrade', (answer: IncomingMessage, upstream: Duplex, first: Buffer) => {
        socket.write(handshakeOf(answer));
        join({ socket, head }, { socket: upstream, head: first });
      });
      asked.once('response', (answer) => {
        if (!passBack(answer, res, false)) reject(unavailable(new Error('This answer cannot be forwarded')));
      });
      asked.once('error', (error) => {
        if (!res.headersSent && !socket.destroyed) reject(unavailable(error));
      });
      asked.end();
    });
  };
}

function handshakeIn({ headers }: IncomingMessage): IncomingHttpHeaders {
  const said = Object.entries(headers).filter(([name]) => handshake.has(name));
  return { ...Object.fromEntries(said), connection: 'Upgrade', upgrade: 'websocket' };
}

type End = { socket: Duplex; head: Buffer };

/** Each ends with the other. A reader that stops makes the other side wait, and that side has its own limit. */
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
