import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm/schema_engine_bg';

const lockFile = 'migration_lock.toml';

interface ServiceMigrations {
  datamodel: string;
  migrations: MigrationList;
}

/** Reads `prisma/schema.prisma` and `prisma/migrations` of a service folder in Prisma's own layout. */
export async function readServiceMigrations(serviceDir: string): Promise<ServiceMigrations> {
  const prismaDir = join(serviceDir, 'prisma');
  return {
    datamodel: await readFile(join(prismaDir, 'schema.prisma'), 'utf8'),
    migrations: await readMigrations(join(prismaDir, 'migrations')),
  };
}

export function schemasOf(datamodel: string): SchemasContainer {
  return { files: [{ path: 'schema.prisma', content: datamodel }] };
}

async function readMigrations(baseDir: string): Promise<MigrationList> {
  const names = await migrationNames(baseDir);
  return {
    baseDir,
    lockfile: { path: lockFile, content: await readFile(join(baseDir, lockFile), 'utf8').catch(() => null) },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      names.map(async (name) => ({
        path: name,
        migrationFile: {
          path: 'migration.sql',
          content: { tag: 'ok' as const, value: await readFile(join(baseDir, name, 'migration.sql'), 'utf8') },
        },
      })),
    ),
  };
}

async function migrationNames(baseDir: string): Promise<string[]> {
  const entries = await readdir(baseDir, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}
