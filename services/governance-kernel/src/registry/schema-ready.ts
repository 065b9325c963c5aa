import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSchemaPrepared, prepareSchema } from '@countersign/policy';

let last: Promise<void> = Promise.resolve();

/**
 * Resolves when arguments can be judged by the schema at once. A worker that concludes decisions blocks all others, so
 * nothing is compiled there. It is done before, one schema a turn, whatever number of calls wait for theirs.
 */
export async function schemaReady(schema: Record<string, unknown>): Promise<void> {
  if (isSchemaPrepared(schema)) return;
  last = last.then(() => prepareNext(schema));
  await last;
}

async function prepareNext(schema: Record<string, unknown>): Promise<void> {
  await nextTurn();
  prepareSchema(schema);
}
