import { fileURLToPath } from 'node:url';
import { migrate } from '@countersign/database';
import { ConfigError } from '@countersign/service-kit';
import { serviceNames, services } from '@countersign/services';
import { migrateConfigFrom } from './config.ts';
import { runJob } from './run-job.ts';

const servicesDir = fileURLToPath(new URL('../../../services', import.meta.url));

await runJob(async () => {
  const service = services.find(({ name }) => name === process.argv[2]);
  if (service === undefined) throw new ConfigError([`name a service: ${serviceNames.join(', ')}`]);
  const { name, schema, role } = service;
  const { ownerUrl } = migrateConfigFrom();
  const applied = await migrate({ url: ownerUrl, serviceDir: `${servicesDir}/${name}`, schema, role });
  return `${name}: ${applied.length === 0 ? 'nothing to migrate' : `applied ${applied.join(', ')}`}.`;
});
