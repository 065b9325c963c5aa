import { provisionRoles } from '@countersign/database';
import { provisionConfigFrom } from './config.ts';
import { runJob } from './run-job.ts';

await runJob(async () => {
  const { adminUrl, roles } = provisionConfigFrom();
  await provisionRoles({ adminUrl, services: roles });
  return `Roles and schemas are ready: ${roles.map(({ schema }) => schema).join(', ')}.`;
});
