import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Migration {
  /** Name of the folder. It begins with a time stamp, because migrations are applied in the order of their names. */
  readonly name: string;
  readonly script: string;
}

/** Reads `prisma/migrations` of a service folder in the layout of Prisma. */
export async function readMigrations(serviceDir: string): Promise<Migration[]> {
  const baseDir = join(serviceDir, 'prisma', 'migrations');
  const entries = await readdir(baseDir, { withFileTypes: true }).catch(noneIfAbsent);
  const names = entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort();
  return Promise.all(
    names.map(async (name) => ({ name, script: await readFile(join(baseDir, name, 'migration.sql'), 'utf8') })),
  );
}

// A service may have no migrations yet, or no folder for functions.
function noneIfAbsent(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** Reads `src/store/*-functions.sql` of a service folder: its current functions and triggers. */
export async function readFunctions(serviceDir: string): Promise<string> {
  const storeDir = join(serviceDir, 'src', 'store');
  const names = (await readdir(storeDir).catch(noneIfAbsent)).filter((name) => name.endsWith('-functions.sql')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(storeDir, name), 'utf8')));
  return texts.join('\n');
}

/** Reads `prisma/schema.prisma` of a service folder. */
export function readDatamodel(serviceDir: string): Promise<string> {
  return readFile(join(serviceDir, 'prisma', 'schema.prisma'), 'utf8');
}
