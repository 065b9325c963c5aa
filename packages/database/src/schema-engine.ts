import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type {
  SqlDriverAdapter,
  SqlMigrationAwareDriverAdapterFactory,
  SqlResultSet,
} from '@prisma/driver-adapter-utils';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import type { SchemaEngine } from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { connectionOptions } from './connection-options.ts';

// Node has it; its type declarations of version 20 do not.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

// Whatever else wants a table waits behind a migration that waits for it. So it gives way, before PostgreSQL looks for deadlocks (after a
// second, by default) and may end somebody's call in place of the migration.
const lockTimeoutMs = 500;

interface EngineConnection {
  url: string;
  schema: string;
  /** Acts for this role, so that what a migration creates belongs to it. */
  role?: string | undefined;
}

/**
 * Runs `work` on Prisma's schema engine (WebAssembly: no download, no native binary), connected to `url`. What a script fails with has the
 * driver's error as its cause, in which `isLockTimeout` finds a lock that was not to be had.
 */
export async function withSchemaEngine<T>(
  connection: EngineConnection & { datamodel: string },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  await loadEngine();
  // The engine takes a session lock and releases it again: it must meet the same session each time.
  const pool = new pg.Pool({
    connectionString: connection.url,
    options: `${connectionOptions(connection)} -c lock_timeout=${lockTimeoutMs}`,
    application_name: 'countersign-migrate',
    max: 1,
  });
  pool.on('error', () => undefined);
  passCatalogChars(pool);
  let scriptError: unknown;
  const adapters = adapterFactory({ pool, schema: connection.schema, onScriptError: (error) => (scriptError = error) });
  const factory = bindMigrationAwareSqlAdapterFactory(adapters);
  try {
    const datamodels: [string, string][] = [['schema.prisma', connection.datamodel]];
    const engine = await engineModule.SchemaEngine.new({ datamodels }, () => undefined, factory);
    return await work(engine).finally(() => engine.free());
  } catch (error) {
    // The engine keeps the text of what the driver said, and not its code.
    throw error instanceof Error && scriptError !== undefined ? Object.assign(error, { cause: scriptError }) : error;
  } finally {
    await pool.end();
  }
}

let engineLoaded: Promise<void> | undefined;

function loadEngine(): Promise<void> {
  engineLoaded ??= instantiate();
  return engineLoaded;
}

async function instantiate(): Promise<void> {
  const script = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
  const bytes = await readFile(join(dirname(script), 'schema_engine_bg.wasm'));
  const { instance } = await WebAssembly.instantiate(bytes, { './schema_engine_bg.js': engineImports() });
  // The engine reports a panic through this global; without it the reason would be lost.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: raisePanic } });
  engineModule.__wbg_set_wasm(instance.exports);
  const start = instance.exports['__wbindgen_start'];
  if (typeof start !== 'function')
    throw new Error('@prisma/schema-engine-wasm has no __wbindgen_start: unknown version.');
  Reflect.apply(start, undefined, []);
}

// The engine arms a ten-second timer for its lock and forgets it: a process that has finished migrating must be free to end.
function engineImports(): object {
  const entries = Object.entries(engineModule).map(([name, value]) => {
    const replaced = name.startsWith('__wbg_setTimeout_') ? setTimeoutUnreferenced : value;
    return [name, replaced] as const;
  });
  return Object.fromEntries(entries);
}

function raisePanic(message: string): never {
  throw new Error(`The schema engine failed: ${message}`);
}

function setTimeoutUnreferenced(callback: () => void, delayMs: number): NodeJS.Timeout {
  return setTimeout(callback, delayMs).unref();
}

type OnScriptError = (error: unknown) => void;

function adapterFactory({
  pool,
  schema,
  onScriptError,
}: {
  pool: pg.Pool;
  schema: string;
  onScriptError: OnScriptError;
}): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool, { schema });
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => suitEngine(await factory.connect(), onScriptError),
    // The WebAssembly engine does not replay histories on PostgreSQL; diffMigration does that itself.
    connectToShadowDb: () => Promise.reject(new Error('Shadow databases are not supported.')),
  };
}

// The adapter splits a script at every semicolon, which cuts function bodies and DO blocks apart. As one simple query it runs
// whole, and PostgreSQL makes it one transaction: a migration is applied entirely or not at all.
function suitEngine<A extends SqlDriverAdapter>(adapter: A, onScriptError: OnScriptError): A {
  adapter.executeScript = async (script) => {
    await adapter.executeRaw({ sql: script, args: [], argTypes: [] }).catch((error: unknown) => {
      onScriptError(error);
      throw error;
    });
  };
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => restoreCatalogChars(await queryRaw(query));
  return adapter;
}

const catalogCharOid = 18;
const standIn = { oid: pg.types.builtins.UUID, columnType: ColumnTypeEnum.Uuid };

// When it compares, the engine reads catalog columns of the internal type "char", which the adapter refuses. So they go through
// the adapter as a type that no catalog holds, and the engine is told afterwards what they are.
function passCatalogChars(pool: pg.Pool): void {
  const query = pool.query.bind(pool);
  const disguised = async (config: pg.QueryArrayConfig): Promise<pg.QueryArrayResult> => {
    const result = await query(config);
    for (const { fields } of [result].flat()) {
      for (const field of fields) if (field.dataTypeID === catalogCharOid) field.dataTypeID = standIn.oid;
    }
    return result;
  };
  Object.assign(pool, { query: disguised });
}

function restoreCatalogChars(result: SqlResultSet): SqlResultSet {
  const columnTypes = result.columnTypes.map((type) => (type === standIn.columnType ? ColumnTypeEnum.Character : type));
  return { ...result, columnTypes };
}
