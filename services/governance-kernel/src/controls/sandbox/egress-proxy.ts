import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type LookupFunction, type Socket } from 'node:net';
import { join } from 'node:path';
import { pipeline, Transform, type Duplex } from 'node:stream';
import { lookupPublic } from '@countersign/delivery';
import { parseAuthority } from './parse-authority.ts';

/** The ledger's account of traffic. */
export type EgressAccount = {
  /** Counts bytes. `false` when the egress budget is used up or the grant has expired. Rejects if the ledger fails. */
  take(bytes: number): Promise<boolean>;
  /** Whether a fence or a revocation stops the server now. */
  isStopped(): Promise<boolean>;
  /** Seals the refusal of a connection to this destination. */
  refuse(destination: string, detail: string): Promise<void>;
};

type EgressProxyOptions = {
  /** The `host:port` entries of the grant. */
  destinations: readonly string[];
  socketDir: string;
  account: EgressAccount;
  /** Resolves names. The default refuses names with an address that is not public. */
  lookup?: LookupFunction;
};

/** The limit of open connections. A client of a few services needs fewer, and more would indicate a scanner. */
const connectionsMax = 32;
const connectMsMax = 10_000;
/** The bytes of a connection between two counts. A connection can exceed the budget by about this many bytes. */
const countedBytes = 262_144;
/** The interval of checks for fences. An open connection ends at most this long after a fence. */
const lookEveryMs = 1_000;
/** The limit of sealed refusals per proxy, since a refused program may retry without end. */
const sealedRefusalsMax = 20;

/**
 * The only exit of a sandbox: an HTTP proxy at a socket in a folder of the kernel, for CONNECT only. A name is
 * resolved once, every address of it must be public, and the connection goes to the checked address.
 */
export class EgressProxy {
  readonly path: string;
  readonly #options: EgressProxyOptions;
  readonly #meter: Meter;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #refused = new Set<string>();
  /** The timer that looks for fences. `null` while no connection is open. */
  #watch: NodeJS.Timeout | null = null;

  private constructor(options: EgressProxyOptions) {
    this.#options = options;
    this.#meter = new Meter(options.account);
    // The path of a socket has at most 107 bytes.
    this.path = join(options.socketDir, `${randomUUID().slice(0, 8)}.sock`);
    this.#server = createServer((_req, res) => {
      res.writeHead(501, { 'content-type': 'text/plain', connection: 'close' });
      res.end('This proxy supports only CONNECT. Use https, or a client that tunnels.\n');
    });
    this.#server.on('connect', (req, socket, head) => void this.#connect(req, socket, head));
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.maxConnections = connectionsMax;
  }

  static async open(options: EgressProxyOptions): Promise<EgressProxy> {
    await mkdir(options.socketDir, { recursive: true, mode: 0o711 });
    const proxy = new EgressProxy(options);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject).listen(proxy.path, resolve);
    });
    // Sandboxed programs connect under another account. They cannot list the folder.
    await chmod(proxy.path, 0o666);
    return proxy;
  }

  async close(): Promise<void> {
    this.#endWatch();
    for (const socket of this.#sockets) socket.destroy();
    await this.#meter.take(0).catch(() => undefined);
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await rm(this.path, { force: true });
  }

  async #connect(req: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    this.#track(client);
    const target = parseAuthority(req.url ?? '');
    if (target === null) return answer(client, 400, 'The destination is malformed');
    const { destination } = target;
    if (!this.#options.destinations.includes(destination))
      return await this.#refuse(client, destination, 'The sandbox grant does not name this destination');
    try {
      if (await this.#isStopped()) return await this.#refuse(client, destination, 'The server is stopped');
      if (!(await this.#meter.take(0)))
        return await this.#refuse(
          client,
          destination,
          'The egress budget is used up, or the sandbox grant has expired',
        );
      const upstream = await this.#dial(target);
      if (upstream === null)
        return await this.#refuse(client, destination, 'The name leads to an address that is not public');
      this.#track(upstream);
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) client.unshift(head);
      this.#relay(client, upstream);
      this.#relay(upstream, client);
      this.#watch ??= setInterval(() => void this.#cutIfStopped(), lookEveryMs).unref();
    } catch {
      answer(client, 502, 'The destination cannot be reached');
    }
  }

  /** `null` when an address of the name is not public. Rejects when the destination cannot be reached. */
  async #dial({ host, port }: { host: string; port: number }): Promise<Socket | null> {
    const address = await new Promise<string | null>((resolve, reject) => {
      (this.#options.lookup ?? lookupPublic)(host, { all: false }, (error, found) => {
        if (error === null) resolve(String(found));
        else if (error.name === 'PrivateAddress') resolve(null);
        else reject(error);
      });
    });
    if (address === null) return null;
    const socket = connect({ host: address, port, timeout: connectMsMax });
    return await new Promise((resolve, reject) => {
      socket.once('connect', () => resolve(socket.setTimeout(0)));
      socket.once('error', reject);
      socket.once('timeout', () => socket.destroy(new Error('The destination does not answer')));
    });
  }

  #relay(from: Duplex, to: Duplex): void {
    pipeline(from, counting(this.#meter), to, () => {
      from.destroy();
      to.destroy();
    });
  }

  async #refuse(client: Duplex, destination: string, detail: string): Promise<void> {
    answer(client, 403, detail);
    if (this.#refused.has(destination) || this.#refused.size >= sealedRefusalsMax) return;
    this.#refused.add(destination);
    await this.#options.account.refuse(destination, detail).catch(() => this.#refused.delete(destination));
  }

  async #cutIfStopped(): Promise<void> {
    if (!(await this.#isStopped())) return;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Also `true` when the database does not answer. */
  async #isStopped(): Promise<boolean> {
    return await this.#options.account.isStopped().catch(() => true);
  }

  #endWatch(): void {
    if (this.#watch !== null) clearInterval(this.#watch);
    this.#watch = null;
  }

  #track(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (this.#sockets.size === 0) this.#endWatch();
    });
    socket.on('error', () => socket.destroy());
  }
}

/** Counts bytes. Uncounted bytes of a reset connection are added to the next count of any connection. */
class Meter {
  readonly #account: EgressAccount;
  #owed = 0;

  constructor(account: EgressAccount) {
    this.#account = account;
  }

  /** `false` when nothing more may pass. Rejects if the ledger fails, and adds the bytes to the next count. */
  async take(bytes: number): Promise<boolean> {
    const owed = this.#owed + bytes;
    this.#owed = 0;
    try {
      return await this.#account.take(owed);
    } catch (error) {
      this.#owed += owed;
      throw error;
    }
  }

  owe(bytes: number): void {
    this.#owed += bytes;
  }
}

/** Counts the bytes that pass. At each count, further bytes wait until the ledger has answered. */
function counting(meter: Meter): Transform {
  let uncounted = 0;
  const count = (done: (error?: Error | null) => void): void => {
    const bytes = uncounted;
    uncounted = 0;
    meter.take(bytes).then(
      (isLeft) => done(isLeft ? null : new Error('The egress budget is used up')),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      uncounted += chunk.length;
      if (uncounted < countedBytes) return done(null, chunk);
      count((error) => (error === null || error === undefined ? done(null, chunk) : done(error)));
    },
    flush: (done) => (uncounted === 0 ? done() : count(done)),
    // Called for a reset connection, which is never flushed.
    destroy: (error, done) => {
      meter.owe(uncounted);
      uncounted = 0;
      done(error);
    },
  });
}

function answer(client: Duplex, status: number, text: string): void {
  client.end(`HTTP/1.1 ${status} Refused\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n${text}\n`);
}
