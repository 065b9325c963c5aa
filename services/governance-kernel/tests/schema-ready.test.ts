import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { isSchemaPrepared } from '@countersign/policy';
import { schemaReady } from '../src/registry/schema-ready.ts';

const schemaOf = (nth: number) => ({ type: 'object', properties: { [`member${nth}`]: { type: 'string' } } });
const schemas = (count: number) => Array.from({ length: count }, (_, nth) => schemaOf(nth));

it('schemas are compiled one per turn of the event loop, however many calls wait', async () => {
  const requests = schemas(20);
  const ready = Promise.all(requests.map(schemaReady));
  const prepared: number[] = [];
  while (prepared.at(-1) !== requests.length) {
    prepared.push(requests.filter(isSchemaPrepared).length);
    await nextTurn();
  }
  expect(prepared[0]).toBe(0);
  const inOneTurn = prepared.slice(1).map((count, turn) => count - (prepared[turn] ?? 0));
  expect(Math.max(...inOneTurn)).toBe(1);
  await ready;
});

it('a compiled schema is ready at once', async () => {
  const [schema = {}] = schemas(1);
  await Promise.all([schemaReady(schema), schemaReady(schema)]);
  let isReady = false;
  void schemaReady(schema).then(() => (isReady = true));
  await Promise.resolve();
  await Promise.resolve();
  expect(isReady).toBe(true);
});

it('a schema that cannot be compiled is also ready, and reports its error when it is used', async () => {
  const schema = { type: 'object', properties: { text: { pattern: '(' } } };
  await schemaReady(schema);
  expect(isSchemaPrepared(schema)).toBe(true);
});
