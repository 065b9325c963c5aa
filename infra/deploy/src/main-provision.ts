import { provisionRoles } from '@countersign/database';
import { provisionConfigFrom } from './config.ts';
import { runJob } from './run-job.ts';
import { serviceRoles, type DeployedService } from './service-roles.ts';

await runJob(async () => {
  const { adminUrl, passwords } = provisionConfigFrom();
  const named = Object.entries(serviceRoles) as [DeployedService, { schema: string; role: string }][];
  await provisionRoles({ adminUrl, services: named.map(([service, role]) => ({ ...role, ...passwords[service] })) });
  return `Roles and schemas stand: ${named.map(([, { schema }]) => schema).join(', ')}.`;
});
