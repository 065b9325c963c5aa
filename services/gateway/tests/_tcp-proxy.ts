import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire that can be cut: stands between the gateway and a server that others use too. */
export class TcpProxy {
  readonly #target: { host: string; port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | null = null;
  #port = 0;

  constructor(target: { host: string; port: number }) {
    this.#target = target;
  }

  /** The same URL through this wire. */
  rewrite(url: string): string {
    const through = new URL(url);
    through.host = `127.0.0.1:${this.#port}`;
    return through.href;
  }

  async join(): Promise<void> {
    if (this.#server !== null) return;
    const server = createServer((socket) => {
      const upstream = connect(this.#target.port, this.#target.host);
      for (const [one, other] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    const address = server.address();
    this.#port = typeof address === 'object' && address !== null ? address.port : 0;
    this.#server = server;
  }

  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
