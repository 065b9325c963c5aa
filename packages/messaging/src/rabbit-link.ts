import { connect, type Channel, type ChannelModel } from 'amqplib';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Report } from './message-bus.ts';

// A lost peer is detected within two to three heartbeats. A handler that blocks the event loop for longer loses its
// deliveries.
const heartbeatS = 10;
const connectTimeoutMs = 10_000;

type Live = { connection: ChannelModel; lost: AbortSignal };
type Attachment = (connection: ChannelModel, lost: AbortSignal) => void;

/** One connection to RabbitMQ that reconnects. Attachments run on each new connection. */
export class RabbitLink {
  readonly #attachments: Attachment[] = [];
  readonly #closing = new AbortController();
  readonly #loop: Promise<void>;
  #live: Live | undefined;

  constructor({ url, name, report, ...retrying }: Retrying & { url: string; name: string; report: Report }) {
    this.#loop = keepOpen({
      ...retrying,
      signal: this.#closing.signal,
      open: () => this.#open(url, name),
      onLost: (reason) => report({ name: 'connection-lost', fields: { connection: name, reason } }),
    });
  }

  /** Resolves with the current connection or the next one. */
  connected(): Promise<ChannelModel> {
    return new Promise((resolve) => this.attach(resolve));
  }

  attach(attachment: Attachment): void {
    this.#attachments.push(attachment);
    if (this.#live) attachment(this.#live.connection, this.#live.lost);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#live?.connection.close().catch(() => undefined);
    await this.#loop;
  }

  async #open(url: string, name: string): Promise<{ closed: Promise<string> }> {
    const connection = await connect(withHeartbeat(url), {
      timeout: connectTimeoutMs,
      clientProperties: { connection_name: name },
    });
    const lost = new AbortController();
    const closed = closing(connection).finally(() => {
      this.#live = undefined;
      lost.abort();
    });
    if (this.#closing.signal.aborted) await connection.close();
    else this.#live = { connection, lost: lost.signal };
    if (this.#live) for (const attachment of this.#attachments) attachment(connection, lost.signal);
    return { closed };
  }
}

/**
 * Resolves with the reason when a connection or channel has closed. Call it before the first use of the connection or
 * channel.
 */
export function closing(emitter: ChannelModel | Channel): Promise<string> {
  let reason = 'closed';
  // Without a listener, Node throws errors of the socket and the broker. `close` follows every `error`.
  emitter.on('error', (error: Error) => (reason = error.message));
  return new Promise((resolve) => emitter.once('close', () => resolve(reason)));
}

function withHeartbeat(url: string): string {
  const target = new URL(url);
  if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(heartbeatS));
  return target.href;
}
