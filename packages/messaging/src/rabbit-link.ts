import { connect, type Channel, type ChannelModel } from 'amqplib';
import { keepOpen, type Retrying } from './keep-open.ts';
import type { Report } from './message-bus.ts';

// A dead peer is noticed within two to three beats; a handler that blocks the event loop for longer loses its deliveries.
const heartbeatS = 10;
const connectTimeoutMs = 10_000;

type Live = { connection: ChannelModel; lost: AbortSignal };
type Attachment = (connection: ChannelModel, lost: AbortSignal) => void;

/** One connection to RabbitMQ that comes back; attachments are run on every new one. */
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

  /** Resolves with this connection or the next one. */
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

/** Resolves with the reason when a connection or channel has closed; call it before anything can go wrong on it. */
export function closing(emitter: ChannelModel | Channel): Promise<string> {
  let reason = 'closed';
  // Without a listener Node throws what a socket or the broker reports. `close` follows every `error`.
  emitter.on('error', (error: Error) => (reason = error.message));
  return new Promise((resolve) => emitter.once('close', () => resolve(reason)));
}

function withHeartbeat(url: string): string {
  const target = new URL(url);
  if (!target.searchParams.has('heartbeat')) target.searchParams.set('heartbeat', String(heartbeatS));
  return target.href;
}
