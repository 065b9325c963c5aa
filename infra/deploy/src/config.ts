import { readConfig, secret, secretUrl, type Environment } from '@countersign/service-kit';
import { prefixOf, services } from '@countersign/services';
import { z } from 'zod';

const jobVariables = {
  NODE_ENV: z.enum(['development', 'test', 'production']).optional(),
  DATABASE_URL: secretUrl(['postgres', 'postgresql']),
};

type Row = (typeof services)[number];
type PasswordVariable = `${Uppercase<Row['schema']>}_${'DATABASE' | 'OWNER'}_PASSWORD`;

const passwordVariables = Object.fromEntries(
  services.flatMap((row) => [
    [`${prefixOf(row)}_DATABASE_PASSWORD`, secret()],
    [`${prefixOf(row)}_OWNER_PASSWORD`, secret()],
  ]),
) as Record<PasswordVariable, ReturnType<typeof secret>>; // two variables for each row of the register

const provisionVariables = z.object({ ...jobVariables, ...passwordVariables });

type ProvisionedRole = { schema: string; role: string; password: string; ownerPassword: string };
type ProvisionConfig = { adminUrl: string; roles: readonly ProvisionedRole[] };

/** `DATABASE_URL` is for the administrator: a superuser, or a role with CREATEROLE and CREATE on this database. */
export function provisionConfigFrom(env: Environment = process.env): ProvisionConfig {
  const read = readConfig(provisionVariables, env, { prefix: 'GOV_' });
  const roles = services.map((row) => ({
    schema: row.schema,
    role: row.role,
    password: read[`${prefixOf(row)}_DATABASE_PASSWORD`],
    ownerPassword: read[`${prefixOf(row)}_OWNER_PASSWORD`],
  }));
  return { adminUrl: read.DATABASE_URL, roles };
}

/** `DATABASE_URL` is for the owner of the service's schema. */
export function migrateConfigFrom(env: Environment = process.env): { ownerUrl: string } {
  return { ownerUrl: readConfig(z.object(jobVariables), env, { prefix: 'GOV_' }).DATABASE_URL };
}
