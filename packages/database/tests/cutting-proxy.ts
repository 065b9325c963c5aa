import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

interface Cut {
  /** Number of packets from the client before its process counts as killed. */
  packets: number;
  /** Whether PostgreSQL receives the last packet. */
  delivered: boolean;
}

interface CuttingProxy {
  url: string;
  hasCut(): boolean;
  close(): Promise<void>;
}

/**
 * Proxy to PostgreSQL that simulates the death of a client at a chosen packet. Both connections then end, and nothing
 * more is sent.
 */
export async function cuttingProxy(target: string, { packets, delivered }: Cut): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets: Socket[] = [];
  let remaining = packets;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    sockets.push(client, upstream);
    client.on('error', () => undefined);
    upstream.on('error', () => undefined);
    upstream.pipe(client);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.end());
    client.on('data', (packet) => {
      if (remaining <= 0) return;
      remaining -= 1;
      if (remaining > 0 || delivered) upstream.write(packet);
      if (remaining > 0) return;
      upstream.end();
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port); // a TCP server has such an address
  return {
    url: url.href,
    hasCut: () => remaining <= 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
