import pg from 'pg';
import { quoteIdentifier } from './identifier.ts';
import { withClient } from './with-client.ts';

// Roles belong to the whole server, so two processes that provision two databases can still meet; both see an XX000, 42710 or 23505.
const concurrentChangeCodes = new Set(['XX000', '42710', '23505']);
const attemptsMax = 5;

interface ServiceRole {
  schema: string;
  /** The role the service logs in with. `<role>_owner` owns the schema. */
  role: string;
  password: string;
  /** With it the owner logs in too, so that migrations need no administrator. Without it the owner cannot log in. */
  ownerPassword?: string;
}

interface ProvisionRolesOptions {
  /** A superuser, or a role with CREATEROLE and CREATE on this database. */
  adminUrl: string;
  services: readonly ServiceRole[];
}

/**
 * Creates or repairs, for each service, its schema, its owner role and its login role. Running it again changes nothing
 * but the password. A login role has no rights outside its own schema.
 *
 * Two roles, because an owner can always grant itself back what was revoked: migrations run as the owner, the service
 * never does. The rights of the login role on a table are set in `migrate`; until then a new table can be read and
 * appended to only.
 */
export async function provisionRoles({ adminUrl, services }: ProvisionRolesOptions): Promise<void> {
  await withClient(adminUrl, async (client) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await provisionAll(client, services);
      } catch (error) {
        await client.query('ROLLBACK');
        if (attempt === attemptsMax || !isConcurrentRoleChange(error)) throw error;
      }
    }
  });
}

export function ownerOf(role: string): string {
  return `${role}_owner`;
}

async function provisionAll(client: pg.Client, services: readonly ServiceRole[]): Promise<void> {
  await client.query('BEGIN');
  // PostgreSQL before 15 lets everyone create tables in public. Reading there is for its owner to grant: the database may be shared.
  await client.query('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  for (const service of services) {
    await createRoles(client, service);
    await client.query(schemaRights(service));
  }
  await client.query('COMMIT');
}

async function createRoles(client: pg.Client, { role, password, ownerPassword }: ServiceRole): Promise<void> {
  const owner = ownerOf(role);
  const { rows } = await client.query<{ rolname: string }>('SELECT rolname FROM pg_roles WHERE rolname = ANY($1)', [
    [role, owner],
  ]);
  const existing = new Set(rows.map((row) => row.rolname));
  if (!existing.has(owner)) await client.query(`CREATE ROLE ${quoteIdentifier(owner)} NOLOGIN`);
  if (!existing.has(role)) await client.query(`CREATE ROLE ${quoteIdentifier(role)} NOLOGIN`);
  await client.query(`ALTER ROLE ${quoteIdentifier(role)} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
  const ownerLogin = ownerPassword === undefined ? 'NOLOGIN' : `LOGIN PASSWORD ${pg.escapeLiteral(ownerPassword)}`;
  await client.query(`ALTER ROLE ${quoteIdentifier(owner)} ${ownerLogin}`);
  // An administrator who is not a superuser must be a member to act for the owner.
  await client.query(`GRANT ${quoteIdentifier(owner)} TO CURRENT_USER`);
}

function schemaRights({ schema, role }: ServiceRole): string {
  const [s, r, o] = [quoteIdentifier(schema), quoteIdentifier(role), quoteIdentifier(ownerOf(role))];
  return `
    CREATE SCHEMA IF NOT EXISTS ${s} AUTHORIZATION ${o};
    ALTER SCHEMA ${s} OWNER TO ${o};
    REVOKE ALL ON SCHEMA ${s} FROM PUBLIC;
    GRANT USAGE ON SCHEMA ${s} TO ${r};
    ALTER DEFAULT PRIVILEGES FOR ROLE ${o} IN SCHEMA ${s} GRANT SELECT, INSERT ON TABLES TO ${r};
    ALTER DEFAULT PRIVILEGES FOR ROLE ${o} IN SCHEMA ${s} GRANT USAGE ON SEQUENCES TO ${r};`;
}

function isConcurrentRoleChange(error: unknown): boolean {
  return error instanceof pg.DatabaseError && concurrentChangeCodes.has(error.code ?? '');
}
