import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import type { Closing } from './closing.ts';
import { ownBuild } from './processes.ts';

/** A separate ledger, with the number of receipts that it must contain after the answers so far. */
export class BenchDatabase {
  readonly #database: TestDatabase;
  #sealed: number;

  private constructor(database: TestDatabase, sealed: number) {
    this.#database = database;
    this.#sealed = sealed;
  }

  static async create(closing: Closing, build = ownBuild): Promise<BenchDatabase> {
    const serviceDir = join(build, 'services/governance-kernel');
    const database = await createTestDatabase({ serviceDir, schema: 'kernel' });
    closing.add(() => database.drop());
    return new BenchDatabase(database, 0);
  }

  get url(): string {
    return this.#database.url;
  }

  get adminUrl(): string {
    return this.#database.adminUrl;
  }

  get sealed(): number {
    return this.#sealed;
  }

  countSealed(receipts: number): void {
    this.#sealed += receipts;
  }

  /** Copies the ledger into a new database. No kernel may be running on the original. */
  async copy(closing: Closing): Promise<BenchDatabase> {
    const database = await this.#database.copy();
    closing.add(() => database.drop());
    return new BenchDatabase(database, this.#sealed);
  }
}
