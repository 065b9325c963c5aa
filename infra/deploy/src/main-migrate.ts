import { fileURLToPath } from 'node:url';
import { migrate } from '@countersign/database';
import { ConfigError } from '@countersign/service-kit';
import { findService, migrateConfigFrom } from './config.ts';
import { runJob } from './run-job.ts';
import { serviceRoles } from './service-roles.ts';

const servicesDir = fileURLToPath(new URL('../../../services', import.meta.url));

await runJob(async () => {
  const service = findService(process.argv[2]);
  if (service === null) throw new ConfigError([`name a service: ${Object.keys(serviceRoles).join(', ')}`]);
  const { ownerUrl } = migrateConfigFrom();
  const applied = await migrate({
    url: ownerUrl,
    serviceDir: `${servicesDir}/${service}`,
    ...serviceRoles[service],
  });
  return `${service}: ${applied.length === 0 ? 'nothing to migrate' : `applied ${applied.join(', ')}`}.`;
});
