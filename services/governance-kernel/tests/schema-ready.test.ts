import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from '@jest/globals';
import { isSchemaPrepared } from '@countersign/policy';
import { schemaReady } from '../src/registry/schema-ready.ts';

const schemaOf = (nth: number) => ({ type: 'object', properties: { [`member${nth}`]: { type: 'string' } } });
const schemas = (count: number) => Array.from({ length: count }, (_, nth) => schemaOf(nth));

it('schemas are compiled one a turn, however many calls wait for theirs', async () => {
  const asked = schemas(20);
  const ready = Promise.all(asked.map(schemaReady));
  const prepared: number[] = [];
  while (prepared.at(-1) !== asked.length) {
    prepared.push(asked.filter(isSchemaPrepared).length);
    await nextTurn();
  }
  expect(prepared[0]).toBe(0);
  const inOneTurn = prepared.slice(1).map((count, turn) => count - (prepared[turn] ?? 0));
  expect(Math.max(...inOneTurn)).toBe(1);
  await ready;
});

it('one that was compiled is ready at once', async () => {
  const [schema = {}] = schemas(1);
  await Promise.all([schemaReady(schema), schemaReady(schema)]);
  let isReady = false;
  void schemaReady(schema).then(() => (isReady = true));
  await Promise.resolve();
  await Promise.resolve();
  expect(isReady).toBe(true);
});

it('one that cannot be compiled is ready as well, and says so when it is asked', async () => {
  const schema = { type: 'object', properties: { text: { pattern: '(' } } };
  await schemaReady(schema);
  expect(isSchemaPrepared(schema)).toBe(true);
});
