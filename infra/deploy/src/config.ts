import { readConfig, secret, secretUrl, type Environment } from '@countersign/service-kit';
import { z } from 'zod';
import { serviceRoles, type DeployedService } from './service-roles.ts';

const jobVariables = {
  NODE_ENV: z.enum(['development', 'test', 'production']).optional(),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']),
};

const provisionVariables = z.object({
  ...jobVariables,
  KERNEL_DATABASE_PASSWORD: secret(),
  KERNEL_OWNER_PASSWORD: secret(),
  GATEWAY_DATABASE_PASSWORD: secret(),
  GATEWAY_OWNER_PASSWORD: secret(),
  CONTROL_PLANE_DATABASE_PASSWORD: secret(),
  CONTROL_PLANE_OWNER_PASSWORD: secret(),
});

type Passwords = { password: string; ownerPassword: string };
type ProvisionConfig = { adminUrl: string; passwords: Record<DeployedService, Passwords> };

/** `DATABASE_URL` is the administrator's: a superuser, or a role with CREATEROLE and CREATE on this database. */
export function provisionConfigFrom(env: Environment = process.env): ProvisionConfig {
  const read = readConfig(provisionVariables, env, { prefix: 'GOV_' });
  return {
    adminUrl: read.DATABASE_URL,
    passwords: {
      'governance-kernel': { password: read.KERNEL_DATABASE_PASSWORD, ownerPassword: read.KERNEL_OWNER_PASSWORD },
      gateway: { password: read.GATEWAY_DATABASE_PASSWORD, ownerPassword: read.GATEWAY_OWNER_PASSWORD },
      'control-plane': {
        password: read.CONTROL_PLANE_DATABASE_PASSWORD,
        ownerPassword: read.CONTROL_PLANE_OWNER_PASSWORD,
      },
    },
  };
}

/** `DATABASE_URL` is that of the owner of the service's schema. */
export function migrateConfigFrom(env: Environment = process.env): { ownerUrl: string } {
  return { ownerUrl: readConfig(z.object(jobVariables), env, { prefix: 'GOV_' }).DATABASE_URL };
}

/** Null: no service has this name. */
export function findService(name: string | undefined): DeployedService | null {
  return (Object.keys(serviceRoles) as DeployedService[]).find((service) => service === name) ?? null;
}
