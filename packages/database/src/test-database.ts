import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { scratchDatabaseUrl } from './config.ts';
import { quoteIdentifier } from './identifier.ts';
import { migrate } from './migrate.ts';
import { readMigrations } from './migration-files.ts';
import { provisionRoles } from './provision-roles.ts';
import { withDatabase, withLogin } from './urls.ts';
import { withClient } from './with-client.ts';

const templateLock = 0x74706c31;
// Part of each template's name: raise it when provisioning or granting changes.
const templateVersion = 1;
// No test file runs that long; what is older was left by a killed process.
const leftOverAgeS = 3_600;
const databasePrefix = 'countersign_test_';
const templatePrefix = 'countersign_template_';

interface TestDatabaseOptions {
  serviceDir: string;
  schema: string;
  /** The restricted login role; roles belong to the server, so the default keeps away from real ones. */
  role?: string;
}

export interface TestDatabase {
  /** Logs in as the restricted role, as the service does in production. */
  readonly url: string;
  /** The same database as its administrator, to look at what a service may not. */
  readonly adminUrl: string;
  readonly schema: string;
  readonly role: string;
  /** Another database with what this one holds now. Nobody may be connected to this one meanwhile. */
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
    // One at a time: nobody drops or half-builds a template that another process is copying.
    await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
    await dropLeftOvers(client);
    const template = await ensureTemplate(client, { ...options, serverUrl, login });
    await createFrom(client, { name, template });
  });
  return testDatabase({ serverUrl, name, schema, login });
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
}

function testDatabase({ serverUrl, name, schema, login }: Place): TestDatabase {
  const adminUrl = withDatabase(serverUrl, name);
  return {
    url: withLogin(adminUrl, login),
    adminUrl,
    schema,
    role: login.role,
    copy: async () => {
      const copied = newName();
      await withClient(serverUrl, (client) => createFrom(client, { name: copied, template: name }));
      return testDatabase({ serverUrl, name: copied, schema, login });
    },
    drop: () => withClient(serverUrl, (client) => dropDatabase(client, name)),
  };
}

function newName(): string {
  return `${databasePrefix}${Math.floor(Date.now() / 1000)}_${randomBytes(6).toString('hex')}`;
}

async function createFrom(client: pg.Client, { name, template }: { name: string; template: string }): Promise<void> {
  await client.query(`CREATE DATABASE ${quoteIdentifier(name)} TEMPLATE ${quoteIdentifier(template)}`);
}

interface TemplateOptions extends TestDatabaseOptions {
  serverUrl: string;
  login: Login;
}

async function ensureTemplate(
  client: pg.Client,
  { serverUrl, serviceDir, schema, login }: TemplateOptions,
): Promise<string> {
  const family = `${templatePrefix}${schema}_`;
  const template = `${family}${await contentHash(serviceDir, login.role)}`;
  const existing = await databaseNames(client, family);
  if (existing.includes(template)) return template;
  for (const outdated of existing) await dropDatabase(client, outdated);
  await client.query(`CREATE DATABASE ${quoteIdentifier(template)}`);
  try {
    const url = withDatabase(serverUrl, template);
    await provisionRoles({ adminUrl: url, services: [{ schema, ...login }] });
    await migrate({ url, schema, serviceDir, role: login.role });
  } catch (error) {
    await dropDatabase(client, template);
    throw error;
  }
  return template;
}

async function dropLeftOvers(client: pg.Client): Promise<void> {
  const oldest = Math.floor(Date.now() / 1000) - leftOverAgeS;
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

async function contentHash(serviceDir: string, role: string): Promise<string> {
  const content = JSON.stringify([templateVersion, role, await readMigrations(serviceDir)]);
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}

// The same in every process that tests on this server, and no easier to guess than the server's own URL.
function testPassword(serverUrl: string): string {
  return createHash('sha256').update(`countersign test role ${serverUrl}`).digest('hex');
}
