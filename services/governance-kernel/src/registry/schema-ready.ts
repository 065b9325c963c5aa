import { setImmediate as nextTurn } from 'node:timers/promises';
import { isSchemaPrepared, prepareSchema } from '@countersign/policy';

let last: Promise<void> = Promise.resolve();

/**
 * Resolves when arguments can be validated against the schema at once. Concluding decisions blocks all other work, so
 * schemas are compiled beforehand. One schema is compiled per turn, however many calls wait.
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
