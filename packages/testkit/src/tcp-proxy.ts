import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type TcpProxy = { port: number; cut(): void; swallow(): void; restore(): void; close(): Promise<void> };

/**
 * A network that a test can cut. The cut breaks open connections. Until the network is restored, new connections are
 * refused, or accepted without any response.
 */
export async function createTcpProxy(target: { host: string; port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let state: 'whole' | 'cut' | 'swallowing' = 'whole';
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy();
    if (state === 'swallowing') return void sockets.add(client.on('error', () => undefined));
    const upstream = connect(target);
    for (const [socket, peer] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const destroyAll = () => sockets.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port, // a TCP server has this kind of address
    cut() {
      state = 'cut';
      destroyAll();
    },
    swallow() {
      state = 'swallowing';
      destroyAll();
    },
    restore() {
      state = 'whole';
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      destroyAll();
      await closed;
    },
  };
}
