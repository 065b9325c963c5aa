import { join } from 'node:path';
import { inTransaction, openDatabase } from '@countersign/database';
import { localDeadLetters, openRabbitDeadLetters, type DeadLetters } from '@countersign/messaging';
import { services } from '@countersign/services';
import type { LocalSettings } from '../config.ts';
import { LocalProblem } from '../local-problem.ts';
import { localServices } from '../local-services.ts';
import { embeddedUrl } from '../running-server.ts';

/** The dead letters of one installation. */
export type Letters = {
  /** The searched address, without credentials. */
  place: string;
  /** The queues that may have dead letters, in alphabetical order. */
  queues: string[];
  of(queue: string): DeadLetters | null;
  close(): Promise<void>;
};

/**
 * Opens the named address. Without one, it uses the broker of the services if there is one, or the tables of their
 * database. Throws LocalProblem if no database runs, or if the role may read the dead letters of no service.
 */
export async function lettersAt(settings: LocalSettings, named: string | undefined): Promise<Letters> {
  const url = named ?? settings.amqpUrl ?? settings.databaseUrl ?? embeddedUrl(join(settings.dataDir, 'postgres'));
  if (url === null)
    throw new LocalProblem(
      `Countersign does not run on ${settings.dataDir}.`,
      'Start it with make up, or name a broker or a database: make redrive url=amqp://…',
    );
  return url.startsWith('amqp') ? lettersOnBroker(url, settings.exchange) : lettersInTables(url);
}

async function lettersOnBroker(url: string, exchange: string): Promise<Letters> {
  const letters = await openRabbitDeadLetters(url);
  const queues = Object.values(localServices).flatMap((service) => Object.values(service.queues(exchange)));
  return { place: placeOf(url), queues: queues.sort(), of: () => letters, close: () => letters.close() };
}

const readableSql = `
  SELECT CASE WHEN to_regnamespace($1) IS NULL OR NOT has_schema_privilege($1, 'USAGE') THEN false
              ELSE has_table_privilege(to_regclass($1 || '.dead_letters'), 'DELETE') END AS readable`;

async function lettersInTables(url: string): Promise<Letters> {
  // Each service has its own schema, and a role that cannot read the others.
  const databases = services.map(({ schema }) => openDatabase({ url, schema, applicationName: 'countersign redrive' }));
  const close = async () => void (await Promise.all(databases.map((database) => database.close())));
  try {
    const found = new Map<string, DeadLetters>();
    let isReadable = false;
    for (const { pool, schema } of databases) {
      const { rows } = await pool.query<{ readable: boolean | null }>(readableSql, [schema]);
      if (rows[0]?.readable !== true) continue;
      isReadable = true;
      const letters = localDeadLetters((work) => inTransaction(pool, work));
      for (const queue of await letters.queues()) found.set(queue, letters);
    }
    if (!isReadable)
      throw new LocalProblem(
        `This role may not read the dead letters at ${placeOf(url)}.`,
        'Name the URL that a service of Countersign logs in with.',
      );
    return { place: placeOf(url), queues: [...found.keys()].sort(), of: (queue) => found.get(queue) ?? null, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function placeOf(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
