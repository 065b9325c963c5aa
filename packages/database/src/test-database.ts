import { createHash, randomBytes } from 'node:crypto';
import { basename, resolve } from 'node:path';
import type pg from 'pg';
import { scratchDatabaseUrl } from './config.ts';
import { quoteIdentifier } from './identifier.ts';
import { migrate } from './migrate.ts';
import { readMigrations } from './migration-files.ts';
import { provisionRoles } from './provision-roles.ts';
import { addTwins, listChangedTwins, type TwinOptions } from './twins.ts';
import { withDatabase, withLogin } from './urls.ts';
import { withClient } from './with-client.ts';

const templateLock = 0x74706c31;
// A part of each template's name. Increase it when provisioning or granting changes.
const templateVersion = 3;
// A test database older than this is from a killed process, because each test file takes less time.
const leftOverAgeS = 3_600;
const databasePrefix = 'countersign_test_';
const templatePrefix = 'countersign_template_';

interface TestDatabaseOptions {
  serviceDir: string;
  schema: string;
  /** The restricted login role. Roles belong to the server, so the default differs from the names in production. */
  role?: string;
  /** `drop` rejects when a twin was changed. */
  twins?: TwinOptions;
}

export interface TestDatabase {
  /** URL for the restricted role, which the service uses in production. */
  readonly url: string;
  /** The same database for its administrator, to read what a service cannot read. */
  readonly adminUrl: string;
  readonly schema: string;
  readonly role: string;
  /**
   * Creates another database with the current content of this one. During the copy, this database must have no open
   * connection.
   */
  copy(): Promise<TestDatabase>;
  /** Closes open connections and removes the database. */
  drop(): Promise<void>;
}

/**
 * Creates a database for one test file on the server of TEST_DATABASE_URL, with the service's migrations applied. The
 * database is a copy of a template. Migrations run only to build a new template, such as after they have changed.
 *
 * @example
 * const serviceDir = fileURLToPath(new URL('..', import.meta.url));
 * const database = await createTestDatabase({ serviceDir, schema: 'kernel' });
 */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const serverUrl = scratchDatabaseUrl();
  const { schema, role = `${databasePrefix}${schema}` } = options;
  const login = { role, password: testPassword(serverUrl) };
  const name = newName();
  await withClient(serverUrl, async (client) => {
    await dropLeftOvers(client);
    const template = await findTemplate(client, { ...options, serverUrl, login });
    await createFrom(client, { name, template });
  });
  return testDatabase({ serverUrl, name, schema, login, twins: options.twins });
}

interface Login {
  role: string;
  password: string;
}

interface Place {
  serverUrl: string;
  name: string;
  schema: string;
  login: Login;
  twins: TwinOptions | undefined;
}

function testDatabase({ serverUrl, name, schema, login, twins }: Place): TestDatabase {
  const adminUrl = withDatabase(serverUrl, name);
  return {
    url: withLogin(adminUrl, login),
    adminUrl,
    schema,
    role: login.role,
    copy: async () => {
      const copied = newName();
      await withClient(serverUrl, (client) => createFrom(client, { name: copied, template: name }));
      return testDatabase({ serverUrl, name: copied, schema, login, twins });
    },
    drop: async () => {
      const changed = twins === undefined ? [] : await listChangedTwins({ adminUrl, schema }, twins);
      await withClient(serverUrl, (client) => dropDatabase(client, name));
      if (changed.length > 0) throw new Error(`Rows of another owner were changed:\n${changed.join('\n')}`);
    },
  };
}

function newName(): string {
  return `${databasePrefix}${Math.floor(Date.now() / 1000)}_${randomBytes(6).toString('hex')}`;
}

/** Copies files, which is much cheaper than copying each page through the write-ahead log. */
async function createFrom(client: pg.Client, { name, template }: { name: string; template: string }): Promise<void> {
  const [copied, original] = [quoteIdentifier(name), quoteIdentifier(template)];
  await client.query(`CREATE DATABASE ${copied} TEMPLATE ${original} STRATEGY file_copy`);
}

interface TemplateOptions extends TestDatabaseOptions {
  serverUrl: string;
  login: Login;
}

/** Name of the template. Until `client` ends, other processes neither drop the template nor build another. */
async function findTemplate(client: pg.Client, options: TemplateOptions): Promise<string> {
  const { family, template } = await templateName(options);
  await client.query('SELECT pg_advisory_lock_shared($1)', [templateLock]);
  if ((await databaseNames(client, template)).length > 0) return template;
  await client.query('SELECT pg_advisory_unlock_shared($1), pg_advisory_lock($1)', [templateLock]);
  const existing = await databaseNames(client, family);
  if (existing.includes(template)) return template;
  for (const outdated of existing) await dropDatabase(client, outdated);
  await buildTemplate(client, template, options);
  return template;
}

async function buildTemplate(client: pg.Client, template: string, options: TemplateOptions): Promise<void> {
  const { serverUrl, serviceDir, schema, login, twins } = options;
  await client.query(`CREATE DATABASE ${quoteIdentifier(template)}`);
  try {
    const url = withDatabase(serverUrl, template);
    await provisionRoles({ adminUrl: url, services: [{ schema, ...login }] });
    await migrate({ url, schema, serviceDir, role: login.role });
    if (twins !== undefined) await addTwins({ adminUrl: url, schema }, twins);
  } catch (error) {
    await dropDatabase(client, template);
    throw error;
  }
}

/** A new template replaces the older ones of its family. Databases with and without twins have different families. */
async function templateName({ serviceDir, schema, login, twins }: TemplateOptions) {
  const kind = hashOf([basename(resolve(serviceDir)), twins !== undefined], 6);
  const family = `${templatePrefix}${schema}_${kind}_`;
  const content = [templateVersion, login.role, twins ?? null, await readMigrations(serviceDir)];
  return { family, template: `${family}${hashOf(content, 16)}` };
}

function hashOf(content: unknown, length: number): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, length);
}

let hasDroppedLeftOvers = false;

/** Drops test databases that killed processes left behind. Runs once per process. */
async function dropLeftOvers(client: pg.Client): Promise<void> {
  if (hasDroppedLeftOvers) return;
  hasDroppedLeftOvers = true;
  const oldest = Math.floor(Date.now() / 1000) - leftOverAgeS; // the name of a database contains its creation time
  for (const name of await databaseNames(client, databasePrefix)) {
    const createdAt = Number(name.slice(databasePrefix.length).split('_')[0]);
    if (createdAt < oldest) await dropDatabase(client, name);
  }
}

async function databaseNames(client: pg.Client, prefix: string): Promise<string[]> {
  const { rows } = await client.query<{ datname: string }>(
    'SELECT datname FROM pg_database WHERE starts_with(datname, $1)',
    [prefix],
  );
  return rows.map((row) => row.datname);
}

async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  await client.query(`DROP DATABASE IF EXISTS ${quoteIdentifier(name)} WITH (FORCE)`);
}

// The same password in every process that tests on this server, independent of its address. It is as hard to guess as
// the server's login.
function testPassword(serverUrl: string): string {
  const { username, password } = new URL(serverUrl);
  return createHash('sha256').update(`countersign test role ${username} ${password}`).digest('hex');
}
