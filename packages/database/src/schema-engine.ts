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

// Node has this global, but its type declarations of version 20 do not.
declare const WebAssembly: {
  instantiate(
    bytes: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

interface EngineConnection {
  url: string;
  schema: string;
  datamodel: string;
}

/**
 * Runs `work` on Prisma's schema engine, connected to `url`, to compare schemas. The engine is WebAssembly: no
 * download, no native binary.
 */
export async function withSchemaEngine<T>(
  connection: EngineConnection,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  await loadEngine();
  // The engine takes and releases a session lock, so it must always get the same session.
  const pool = new pg.Pool({
    connectionString: connection.url,
    options: connectionOptions(connection),
    application_name: 'countersign-migrate',
    max: 1,
  });
  pool.on('error', () => undefined);
  passCatalogChars(pool);
  const factory = bindMigrationAwareSqlAdapterFactory(adapterFactory(pool, connection.schema));
  try {
    const datamodels: [string, string][] = [['schema.prisma', connection.datamodel]];
    const engine = await engineModule.SchemaEngine.new({ datamodels }, () => undefined, factory);
    return await work(engine).finally(() => engine.free());
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
  // The engine reports a panic through this global. Without it, the reason would be lost.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: raisePanic } });
  engineModule.__wbg_set_wasm(instance.exports);
  const start = instance.exports['__wbindgen_start'];
  if (typeof start !== 'function')
    throw new Error('@prisma/schema-engine-wasm has no __wbindgen_start: unknown version.');
  Reflect.apply(start, undefined, []);
}

// The engine starts a ten-second timer for its lock and never clears it. The timer must not keep a finished process
// alive.
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

function adapterFactory(pool: pg.Pool, schema: string): SqlMigrationAwareDriverAdapterFactory {
  const factory = new PrismaPg(pool, { schema });
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    connect: async () => restoringCatalogChars(await factory.connect()),
    // The WebAssembly engine cannot replay migrations on PostgreSQL, so diffMigration does that itself.
    connectToShadowDb: () => Promise.reject(new Error('Shadow databases are not supported.')),
  };
}

function restoringCatalogChars<A extends SqlDriverAdapter>(adapter: A): A {
  const queryRaw = adapter.queryRaw.bind(adapter);
  adapter.queryRaw = async (query) => restoreCatalogChars(await queryRaw(query));
  return adapter;
}

const catalogCharOid = 18;
const standIn = { oid: pg.types.builtins.UUID, columnType: ColumnTypeEnum.Uuid };

// The engine reads catalog columns of the internal type "char", which the adapter refuses. They pass the adapter as a
// type that no catalog column has, and are converted afterwards.
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
