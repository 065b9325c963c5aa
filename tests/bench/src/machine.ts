import { cpus, totalmem } from 'node:os';
import { measurePrimitives, type Primitives } from './primitives.ts';
import { withAdmin } from './with-admin.ts';

export type Machine = {
  cpu: string;
  cores: number;
  memory_gib: number;
  node: string;
  postgres: string;
  measured_at: string;
} & Primitives;

export async function readMachine(adminUrl: string): Promise<Machine> {
  const { rows } = await withAdmin(adminUrl, (client) =>
    client.query<{ server_version: string }>('SHOW server_version'),
  );
  return {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memory_gib: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    postgres: rows[0]?.server_version ?? 'unknown',
    measured_at: new Date().toISOString(),
    ...measurePrimitives(),
  };
}
