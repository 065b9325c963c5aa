import { fileURLToPath } from 'node:url';
import { migrate, provisionRoles } from '@countersign/database';
import type { Lifecycle, Log } from '@countersign/service-kit';
import { services, type ServiceName } from '@countersign/services';
import type { LocalSettings } from './config.ts';
import type { DataDir } from './data-dir.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

/** The database URL of each service's login role. */
export type DatabaseUrls = Readonly<Record<ServiceName, string>>;

const servicesDir = fileURLToPath(new URL('../../../services', import.meta.url));

/** Prepares a migrated database with one schema and one role for each service. */
export async function prepareDatabase(
  settings: Pick<LocalSettings, 'databaseUrl'>,
  dataDir: DataDir,
  { lifecycle, log }: { lifecycle: Lifecycle; log: Log },
): Promise<DatabaseUrls> {
  const adminUrl = settings.databaseUrl ?? (await startEmbedded(dataDir, lifecycle, log));
  const logins = services.map((row) => ({ ...row, password: dataDir.databasePasswords[row.name] }));
  await provisionRoles({ adminUrl, services: logins }).catch((cause: unknown) => {
    // The message omits the address, because it contains a password.
    throw settings.databaseUrl === null ? cause : new Error('DATABASE_URL cannot be used', { cause });
  });
  for (const { name, schema, role } of logins)
    await migrate({ url: adminUrl, schema, role, serviceDir: `${servicesDir}/${name}` });
  const urls = logins.map((login) => [login.name, loginUrl(adminUrl, login)]);
  return Object.fromEntries(urls) as DatabaseUrls; // one for each row of the register
}

async function startEmbedded({ postgresDir }: DataDir, lifecycle: Lifecycle, log: Log): Promise<string> {
  const postgres = await startEmbeddedPostgres({
    dataDir: postgresDir,
    log: (line) => log.debug('postgres.said', { line }),
  });
  lifecycle.onClose('postgres', () => postgres.stop());
  return postgres.adminUrl;
}

function loginUrl(adminUrl: string, { role, password }: { role: string; password: string }): string {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = password;
  return url.href;
}
