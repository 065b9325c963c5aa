import { fileURLToPath } from 'node:url';
import { migrate, provisionRoles } from '@countersign/database';
import { serviceRoles } from '@countersign/deploy';
import type { Lifecycle, Log } from '@countersign/service-kit';
import type { LocalSettings } from './config.ts';
import type { DataDir } from './data-dir.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

export type ServiceUrls = { kernel: string; gateway: string; controlPlane: string };

const servicesDir = fileURLToPath(new URL('../../../services', import.meta.url));

/** Brings a migrated database with one schema and one role for each service. Returns the URL that each service logs in with. */
export async function prepareDatabase(
  settings: Pick<LocalSettings, 'databaseUrl'>,
  dataDir: DataDir,
  { lifecycle, log }: { lifecycle: Lifecycle; log: Log },
): Promise<ServiceUrls> {
  const adminUrl = settings.databaseUrl ?? (await startEmbedded(dataDir, lifecycle, log));
  const { kernelDatabasePassword, gatewayDatabasePassword, controlPlaneDatabasePassword } = dataDir.secrets;
  const kernel = { ...serviceRoles['governance-kernel'], password: kernelDatabasePassword };
  const gateway = { ...serviceRoles.gateway, password: gatewayDatabasePassword };
  const controlPlane = { ...serviceRoles['control-plane'], password: controlPlaneDatabasePassword };
  const logins = { 'governance-kernel': kernel, gateway, 'control-plane': controlPlane };
  await provisionRoles({ adminUrl, services: Object.values(logins) }).catch((cause: unknown) => {
    // Never with its address, which holds a password.
    throw settings.databaseUrl === null ? cause : new Error('DATABASE_URL cannot be used', { cause });
  });
  for (const [service, { schema, role }] of Object.entries(logins))
    await migrate({ url: adminUrl, schema, role, serviceDir: `${servicesDir}/${service}` });
  return {
    kernel: loginUrl(adminUrl, kernel),
    gateway: loginUrl(adminUrl, gateway),
    controlPlane: loginUrl(adminUrl, controlPlane),
  };
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
