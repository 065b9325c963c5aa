import { randomBytes } from 'node:crypto';
import { connect } from 'amqplib';
import {
  eventFactory,
  localDeadLetters,
  openRabbitDeadLetters,
  type DeadLetters,
  messagingTablesSql,
  OutboxRelay,
  recordEvents,
  type MessageBus,
  type OutboxRelayOptions,
  type OutgoingEvent,
  type Report,
} from '@countersign/messaging';
import { inTransaction, type Database } from '@countersign/database';
import { removeTopology } from '@countersign/messaging/testing';
import { amqpUrl, createBus, databaseUrl, type DriverName } from './drivers.ts';
import { effectsTableSql, noteTaken, openSchema } from './note.ts';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';

export const newEvent = eventFactory({ source: '/messaging-test' });

/**
 * One schema, one exchange, and a network to the server of the driver, which a test can cut. All of it is removed at
 * the end.
 */
export class World {
  readonly driver: DriverName;
  readonly name = `messaging_test_${randomBytes(6).toString('hex')}`;
  readonly queue = `${this.name}.notes`;
  readonly network: TcpProxy;
  /** Connects directly, without the network that a test can cut. */
  readonly database: Database;
  /** The database of bus and relay. It is behind the network when PostgreSQL is the server of the driver. */
  readonly driverDatabase: Database;
  readonly reports: Parameters<Report>[0][] = [];
  readonly #stops: (() => Promise<void>)[] = [];

  static async create(driver: DriverName): Promise<World> {
    const server = new URL(driver === 'rabbitmq' ? amqpUrl : databaseUrl);
    const port = Number(server.port || (driver === 'rabbitmq' ? 5672 : 5432));
    const world = new World(driver, await createTcpProxy({ host: server.hostname, port }));
    await world.database.pool.query(`CREATE SCHEMA ${world.name}`);
    await world.database.pool.query(messagingTablesSql + effectsTableSql);
    return world;
  }

  private constructor(driver: DriverName, network: TcpProxy) {
    this.driver = driver;
    this.network = network;
    this.database = openSchema(databaseUrl, this.name);
    this.driverDatabase =
      driver === 'rabbitmq' ? this.database : openSchema(this.#behindNetwork(databaseUrl), this.name);
  }

  get settings() {
    return { driver: this.driver, exchange: this.name, amqpUrl: this.#behindNetwork(amqpUrl) };
  }

  startBus(): MessageBus {
    const bus = createBus({ ...this.settings, report: (event) => void this.reports.push(event) });
    this.#stops.push(() => bus.close({ graceMs: 2_000 }));
    return bus;
  }

  startRelay(bus: MessageBus, over: Partial<OutboxRelayOptions> = {}): OutboxRelay {
    const transaction: OutboxRelayOptions['transaction'] = (work) => inTransaction(this.driverDatabase.pool, work);
    const report: Report = (event) => void this.reports.push(event);
    const relay = new OutboxRelay({
      bus,
      transaction,
      pollMs: 50,
      backoff: { baseMs: 20, maxMs: 200 },
      report,
      ...over,
    });
    relay.start();
    this.#stops.push(() => relay.stop());
    return relay;
  }

  async record(...events: OutgoingEvent[]): Promise<void> {
    await inTransaction(this.database.pool, (tx) => recordEvents(tx, events));
  }

  /** Records `note.taken.v1` events in one transaction, with the values from `first` on. */
  async recordNotes(first: number, count: number): Promise<void> {
    await this.record(...Array.from({ length: count }, (_, index) => newEvent(noteTaken, { value: first + index })));
  }

  async effects(): Promise<number[]> {
    const { rows } = await this.database.pool.query<{ value: number }>('SELECT value FROM effects ORDER BY nth');
    return rows.map(({ value }) => value);
  }

  async unsent(): Promise<number> {
    const { rows } = await this.database.pool.query('SELECT id FROM outbox WHERE sent_at IS NULL');
    return rows.length;
  }

  async deadLetters(): Promise<number> {
    if (this.driver === 'in-process') return (await this.database.pool.query('SELECT 1 FROM dead_letters')).rows.length;
    return this.#onBroker(async (channel) => (await channel.checkQueue(`${this.queue}.dead`)).messageCount);
  }

  /** Opens the dead letters as a tool outside the services does. */
  async openDeadLetters(): Promise<DeadLetters> {
    if (this.driver === 'in-process') return localDeadLetters((work) => inTransaction(this.database.pool, work));
    const letters = await openRabbitDeadLetters(amqpUrl);
    this.#stops.push(() => letters.close());
    return letters;
  }

  async destroy(): Promise<void> {
    this.network.restore();
    for (const stop of this.#stops.reverse()) await stop();
    if (this.driver === 'rabbitmq') await removeTopology(amqpUrl, { exchange: this.name, queues: [this.queue] });
    await this.database.pool.query(`DROP SCHEMA ${this.name} CASCADE`);
    await Promise.all([this.database.close(), this.driverDatabase.close(), this.network.close()]);
  }

  async #onBroker<T>(
    work: (channel: Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>) => Promise<T>,
  ) {
    const connection = await connect(amqpUrl);
    try {
      return await work(await connection.createChannel());
    } finally {
      await connection.close();
    }
  }

  #behindNetwork(server: string): string {
    const url = new URL(server);
    url.host = `127.0.0.1:${this.network.port}`;
    return url.href;
  }
}

/** Resolves when `check` no longer throws. Rethrows its error when it has been the same for a minute. */
export async function eventually(check: () => Promise<void> | void): Promise<void> {
  let progress = { message: '', at: performance.now() }; // the error and the time when it last changed
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const { message } = error as Error;
      if (message !== progress.message) progress = { message, at: performance.now() }; // a new error
      if (performance.now() > progress.at + 60_000) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20)); // between two reads of the state
    }
  }
}
