import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { connectionOptions } from './connection-options.ts';
import { quoteIdentifier } from './identifier.ts';

type NoticesOptions = {
  url: string;
  schema: string;
  /** Notices of this channel reach every process that listens to it, in all schemas of the database. */
  channel: string;
  onNotice(payload: string): void;
  /** Called for each failed or lost connection. The connection is opened again. */
  onLost(error: unknown): void;
};

type Notices = {
  /** Listens from the first call on. Resolves when the connection listens, or when it cannot be opened now. */
  listen(): Promise<void>;
  close(): Promise<void>;
};

const connectTimeoutMs = 5_000;
const retryMs = 1_000;

/**
 * Listens to a channel of PostgreSQL over a connection of its own. Notices that are sent while the connection is lost
 * are lost too. `LISTEN` belongs to a session, so the URL must not lead to a pooler of transactions.
 */
export function openNotices(options: NoticesOptions): Notices {
  const closing = new AbortController();
  const isOver = () => closing.signal.aborted;
  let listening: { tried: Promise<void>; ended: Promise<void> } | null = null;

  const keepListening = async (tried: () => void): Promise<void> => {
    while (!isOver()) {
      const client = clientOf(options);
      const ended = endOf(client, closing.signal);
      try {
        await client.connect();
        await client.query(`LISTEN ${quoteIdentifier(options.channel)}`);
        tried();
        await ended;
      } catch (error) {
        if (!isOver()) options.onLost(error);
      }
      tried();
      await client.end().catch(() => undefined);
      await delay(retryMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  };

  const start = () => {
    let tried: () => void = () => undefined;
    const first = new Promise<void>((resolve) => {
      tried = resolve;
    });
    return { tried: first, ended: keepListening(tried) };
  };

  return {
    listen: () => (listening ??= start()).tried,
    close: async () => {
      closing.abort();
      await listening?.ended;
    },
  };
}

/** Resolves when the process closes. Rejects when the connection ends before that. */
function endOf(client: pg.Client, closing: AbortSignal): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    client.on('error', reject);
    client.on('end', () => reject(new Error('The connection ended')));
    if (closing.aborted) resolve();
    closing.addEventListener('abort', () => resolve(), { once: true });
  });
  ended.catch(() => undefined); // awaited only after the connection listens
  return ended;
}

function clientOf({ url, schema, onNotice }: NoticesOptions): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    options: connectionOptions({ schema }),
    application_name: `countersign-${schema}-notices`,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  });
  client.on('notification', ({ payload = '' }) => onNotice(payload));
  return client;
}
