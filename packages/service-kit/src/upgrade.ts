import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '@countersign/contracts';
import type { HttpApp } from './http-app.ts';

/** A connection whose request asks for a WebSocket. `head`: the bytes after the request. */
type Upgrade = { socket: Duplex; head: Buffer };

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/**
 * The connection of a request to a route whose media is `socket`. Its handler writes to it and returns `takenOver`.
 * Throws UPGRADE_REQUIRED for a request that is not an opening handshake (RFC 6455 §4.2.1).
 */
export function upgradeOf(req: IncomingMessage): Upgrade {
  const upgrade = upgrades.get(req);
  if (upgrade !== undefined) return upgrade;
  throw new AppError('UPGRADE_REQUIRED', 'This address accepts only WebSocket connections', {
    headers: { upgrade: 'websocket' },
  });
}

/**
 * Lets an app answer WebSocket requests at its socket routes through the same pipeline as all requests. Other upgrades,
 * such as those of clients that prefer HTTP/2, are answered like ordinary requests (RFC 9110 §7.8). `admits` returns
 * false for a request that it has refused. Node throws when a connection that still waits for an answer gets a second
 * one. That would end the process.
 */
export function acceptUpgrades(
  server: Server,
  { listener, socketPaths }: HttpApp,
  admits: (req: IncomingMessage) => boolean,
): void {
  // Without a listener Node itself ignores such requests.
  if (socketPaths.size === 0) return;
  server.on('upgrade', (req: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    if (!admits(req)) return;
    if (!asksForSocket(req, socketPaths)) return answerAsBefore(server, req, { socket, head });
    const res = new ServerResponse(req);
    res.shouldKeepAlive = false;
    res.assignSocket(socket);
    res.once('finish', () => socket.end());
    upgrades.set(req, { socket, head });
    listener(req, res);
  });
}

function asksForSocket({ method, url = '', headers }: IncomingMessage, paths: ReadonlySet<string>): boolean {
  const [path = ''] = url.split('?');
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && paths.has(path);
}

/** Gives the same request, without the upgrade, to a new parser, since Node's parser has released the connection. */
function answerAsBefore(server: Server, req: IncomingMessage, { socket, head }: Upgrade): void {
  const lines = [`${req.method} ${req.url} HTTP/${req.httpVersion}`];
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = req.rawHeaders.slice(index, index + 2);
    if (!['upgrade', 'connection', 'http2-settings'].includes(name.toLowerCase())) lines.push(`${name}: ${value}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
}
