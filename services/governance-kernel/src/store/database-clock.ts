import { z } from 'zod';
import type { Reader } from './database.ts';

const Read = z.tuple([z.object({ ms: z.number() })]);

/** The clock that all kernels of one database share. */
export async function readDatabaseMs(reader: Reader): Promise<number> {
  const rows = await reader.$queryRaw`SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`;
  return Read.parse(rows)[0].ms;
}
