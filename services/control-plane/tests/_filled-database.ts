import { fileURLToPath } from 'node:url';
import {
  createTestDatabase,
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '@countersign/database/testing';
import pg from 'pg';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';

type Recorded = Parameters<typeof findGrowingReads>[1];
type Bound = Parameters<typeof findGrowingReads>[2];

/** A database with the data of many workspaces, which records what statements read. */
export class FilledDatabase {
  readonly opened: ControlPlaneDatabase;
  readonly #scratch: TestDatabase;
  readonly #recorder: PlanRecorder;

  private constructor(scratch: TestDatabase) {
    this.#scratch = scratch;
    this.opened = openControlPlaneDatabase(scratch.url);
    this.#recorder = recordPlans(this.opened.pool);
  }

  static async open(fillSql: string): Promise<FilledDatabase> {
    const serviceDir = fileURLToPath(new URL('..', import.meta.url));
    const scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
    await administer(scratch, fillSql);
    await explainStatements(scratch);
    return new FilledDatabase(scratch);
  }

  async administer(sql: string): Promise<void> {
    await administer(this.#scratch, sql);
  }

  /** The statements that the database received during `act`. */
  during(act: () => Promise<unknown>): Promise<Recorded> {
    return this.#recorder.during(act);
  }

  /** The statements that read more than `bound`. */
  findGrowing(recorded: Recorded, bound: Bound): ReturnType<typeof findGrowingReads> {
    return findGrowingReads(this.#scratch, recorded, bound);
  }

  async close(): Promise<void> {
    await this.opened.close();
    await this.#scratch.drop();
  }
}

async function administer({ adminUrl }: TestDatabase, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl, options: '-c search_path=control_plane' });
  await client.connect();
  await client.query(sql).finally(() => client.end());
}
