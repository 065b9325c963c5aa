// Writes the next migration of a service from its changed tables and functions. It compares them in a scratch database of
// the PostgreSQL that the tests use. Usage: node tests/runner/migration.mjs SERVICE NAME
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPostgres } from './postgres.mjs';
import { run } from './run-jest.mjs';

const [service = '', name = ''] = process.argv.slice(2);
const scratch = mkdtempSync(join(tmpdir(), 'countersign-migration-'));
chmodSync(scratch, 0o711);
const postgres = await findPostgres(process.env, scratch);
const program = [process.execPath, 'packages/database/dist/migration-cli.js', `services/${service}`, name];
process.exitCode = await run(program, { ...process.env, TEST_DATABASE_URL: postgres.url }).finally(async () => {
  await postgres.stop();
  rmSync(scratch, { recursive: true, force: true });
});
