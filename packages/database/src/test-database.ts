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
// Part of each template's name: raise it when provisioning or granting changes.
const templateVersion = 3;
// No test file runs that long; what is older was left by a killed process.
const leftOverAgeS = 3_600;
const databasePrefix = 'countersign_test_';
const templatePrefix = 'countersign_template_';

interface TestDatabaseOptions {
  serviceDir: string;
  schema: string;
  /** The restricted login role; roles belong to the server, so the default keeps away from real ones. */
  role?: string;
  /** `drop` rejects when a twin is not as it was made. */
  twins?: TwinOptions;
}

export interface TestDatabase {
  /** Logs in as the restricted role, as the service does in production. */
  readonly url: string;
  /** The same database as its administrator, to look at what a service may not. */
  readonly adminUrl: string;
  readonly schema: string;
  readonly role: string;
  /** Another database with what this one holds now. No connection to this one may be open during the copy. */
  copy(): Promise<TestDatabase>;
  /** Closes what is still connected and removes the database. */
  drop(): Promise<void>;
}

/**
 * Creates a database of its own for one test file, with the service's migrations applied, on the server TEST_DATABASE_URL names.
 * The migrations run once per content: later calls copy a template.
 *
 * @example
 * const database = await createTestDatabase({ serviceDir: fileURLToPath(new URL('..', import.meta.url)), schema: 'kernel' });
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

/** Copied as files, which costs a fraction of copying each page through the write-ahead log. */
async function createFrom(client: pg.Client, { name, template }: { name: string; template: string }): Promise<void> {
  const [copied, original] = [quoteIdentifier(name), quoteIdentifier(template)];
  await client.query(`CREATE DATABASE ${copied} TEMPLATE ${original} STRATEGY file_copy`);
}

interface TemplateOptions extends TestDatabaseOptions {
  serverUrl: string;
  login: Login;
}

/** The template's name. Until `client` ends, no other process drops the template or builds one. */
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

/** Templates of one family replace each other. Databases with and without twins are used side by side. */
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

/** Once per process. */
async function dropLeftOvers(client: pg.Client): Promise<void> {
  if (hasDroppedLeftOvers) return;
  hasDroppedLeftOvers = true;
  const oldest = Math.floor(Date.now() / 1000) - leftOverAgeS; // the names of databases hold the time of day
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

// The same in every process that tests on this server, by whatever address, and no easier to guess than the server's own login.
function testPassword(serverUrl: string): string {
  const { username, password } = new URL(serverUrl);
  return createHash('sha256').update(`countersign test role ${username} ${password}`).digest('hex');
}
