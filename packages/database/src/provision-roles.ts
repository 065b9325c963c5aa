import pg from 'pg';
import { quoteIdentifier } from './identifier.ts';
import { withClient } from './with-client.ts';

// Roles belong to the whole server, so processes that provision two databases can conflict. PostgreSQL then reports one
// of these codes.
const concurrentChangeCodes = new Set(['XX000', '42710', '23505']);
const attemptsMax = 5;

interface ServiceRole {
  schema: string;
  /** The login role of the service. `<role>_owner` owns the schema. */
  role: string;
  password: string;
  /** If present, the owner can log in too, and migrations need no administrator. */
  ownerPassword?: string;
}

interface ProvisionRolesOptions {
  /** A superuser, or a role with CREATEROLE and CREATE on this database. */
  adminUrl: string;
  services: readonly ServiceRole[];
}

/**
 * Creates or repairs the schema, the owner role and the login role of each service. A repeated call changes only the
 * logins. A login role gets no rights outside its own schema.
 *
 * There are two roles because an owner can always grant revoked rights to itself. Migrations run as the owner, and the
 * service never does. `migrate` sets the rights of the login role on a table. Before that, the role can only read a new
 * table and insert into it.
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
  // Before version 15, PostgreSQL lets all roles create tables in public. Rights to read in that schema stay unchanged,
  // because the database may be shared.
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
  // An administrator that is not a superuser can act as the owner only as a member of it.
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
