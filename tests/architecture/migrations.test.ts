import { describe, expect, it } from '@jest/globals';
import { listFiles, readText, units } from './repository.ts';
import { migrationOnlyAdds } from './rules/migrations.ts';

/** The last migration from before the rule. No running installation updates from a version that old. */
const lastWithoutRule = '20261128110000';

const migrations = units()
  .filter((unit) => unit.startsWith('services/'))
  .flatMap((unit) => listFiles(`${unit}/prisma/migrations`, '.sql'));
const offencesIn = (paths: string[]) => paths.flatMap((path) => migrationOnlyAdds(path, readText(path)));

describe('migrations', () => {
  it('remove nothing that a running version still uses', () => {
    expect(offencesIn(migrations.filter((path) => nameOf(path) > `${lastWithoutRule}_~`))).toEqual([]);
  });

  it('are all checked: the check finds an earlier migration that removed a table', () => {
    expect(offencesIn(migrations)).toContain(
      'services/gateway/prisma/migrations/20261122012000_kernel_settings/migration.sql: DROP TABLE',
    );
  });
});

describe('the rule for migrations', () => {
  it.each([
    'DROP TABLE "runs";',
    'ALTER TABLE "runs" DROP COLUMN "title";',
    'ALTER TABLE "runs" RENAME COLUMN "title" TO "name";',
    'ALTER TABLE "runs" ALTER COLUMN "title" SET NOT NULL;',
    'ALTER TABLE "runs" ALTER COLUMN "title" DROP DEFAULT;',
    'ALTER TABLE "runs" ALTER COLUMN "title" SET DATA TYPE BIGINT;',
    'ALTER TABLE "runs" ADD COLUMN "title" TEXT NOT NULL;',
    `ALTER TABLE "runs" ADD COLUMN "place" TEXT DEFAULT '', ADD COLUMN "title" TEXT NOT NULL`,
    'DROP FUNCTION append;',
    `ALTER TABLE "runs" ADD CONSTRAINT "runs_title" CHECK ("title" <> '');`,
    'ALTER TABLE "runs" ADD COLUMN "a" INT, ADD CONSTRAINT "runs_a" UNIQUE ("a");',
  ])('finds %s', (sql) => {
    expect(migrationOnlyAdds('a.sql', sql)).toHaveLength(1);
  });

  it.each([
    'CREATE TABLE "runs" ("title" TEXT NOT NULL);',
    `CREATE TABLE "runs" ("title" TEXT); ALTER TABLE "runs" ADD CONSTRAINT "runs_title" CHECK ("title" <> '');`,
    `ALTER TABLE "runs" ADD COLUMN "title" TEXT NOT NULL DEFAULT '';`,
    `ALTER TABLE "runs" ADD COLUMN "title" TEXT DEFAULT '' NOT NULL;`,
    'ALTER TABLE "runs" ALTER COLUMN "title" DROP NOT NULL;',
    '-- DROP TABLE "runs" comes with the release after this one.',
    'CREATE OR REPLACE FUNCTION a() RETURNS void AS $$ BEGIN DROP TABLE b; END $$ LANGUAGE plpgsql;',
    '-- contract: the last release reads "name".\nALTER TABLE "runs" DROP COLUMN "title";',
  ])('accepts %s', (sql) => {
    expect(migrationOnlyAdds('a.sql', sql)).toEqual([]);
  });
});

function nameOf(path: string): string {
  return path.split('/').at(-2) ?? '';
}
