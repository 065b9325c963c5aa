import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/** A proxy to the server of `target`. It delays every packet of both directions by `delayMs`, and keeps their order. */
export async function slowProxy(target, delayMs) {
  const { hostname, port } = new URL(target);
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    pass(client, upstream, delayMs);
    pass(upstream, client, delayMs);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String(server.address().port);
  return {
    url: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function pass(from, to, delayMs) {
  from.on('data', (packet) => setTimeout(() => to.destroyed || to.write(packet), delayMs));
  from.on('end', () => setTimeout(() => to.end(), delayMs));
  from.on('error', () => to.destroy());
  from.on('close', () => setTimeout(() => to.destroy(), delayMs));
}
