import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { diffMigration } from '@countersign/database/testing';
import { messagingTablesSql } from '@countersign/messaging';
import { databaseUrl } from './drivers.ts';

const prismaHeader = 'datasource db {\n  provider = "postgresql"\n}\n\n';

describe('the tables of messaging', () => {
  it('have the columns that the Prisma models describe', async () => {
    const models = await readFile(new URL('../prisma-models.prisma', import.meta.url), 'utf8');
    const serviceDir = await mkdtemp(join(tmpdir(), 'messaging-tables-'));
    const migrationDir = join(serviceDir, 'prisma/migrations/20260101000000_init');
    await mkdir(migrationDir, { recursive: true });
    await writeFile(join(serviceDir, 'prisma/schema.prisma'), prismaHeader + models);
    await writeFile(join(migrationDir, 'migration.sql'), messagingTablesSql);
    expect(await diffMigration({ adminUrl: databaseUrl, serviceDir })).toBeNull();
    await rm(serviceDir, { recursive: true });
  });
});
