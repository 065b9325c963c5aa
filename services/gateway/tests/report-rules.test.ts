import { describe, expect, it } from '@jest/globals';
import { knownMembersOf, shapeOf } from '@countersign/service-kit';
import { z } from 'zod';
import { ReportWriter } from '../src/reports/report-writer.ts';

const Leaf = z.strictObject({ name: z.string(), free: z.record(z.string(), z.json()).optional() });
const Tree = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('leaf'), leaf: Leaf.nullable() }),
  z
    .strictObject({
      kind: z.literal('pair'),
      get pair() {
        return z.tuple([z.unknown(), Node]).optional();
      },
    })
    .refine(() => true),
]);
const Node: z.ZodType = z.lazy(() =>
  z.strictObject({ left: Node.optional(), tree: Tree.default({ kind: 'leaf', leaf: null }) }),
);

const reportOf = (value: unknown) => {
  const { members, ...rest } = shapeOf(value, knownMembersOf(Node));
  return { paths: members.map(({ path, type, size }) => `${path}: ${type} ${size}`), ...rest };
};

describe('the shape of a value', () => {
  it('contains the names of the contract, in every form of schema', () => {
    const value = {
      left: { left: { tree: { kind: 'leaf', leaf: { name: 'abc', free: { hidden: { deep: 1 } } } } } },
      odd: 1,
    };
    expect(reportOf(value)).toEqual({
      paths: [
        '$: object 2',
        'left: object 1',
        'left.left: object 1',
        'left.left.tree: object 2',
        'left.left.tree.kind: string 4',
        'left.left.tree.leaf: object 2',
        'left.left.tree.leaf.name: string 3',
        'left.left.tree.leaf.free: object 1',
      ],
      unknownMembers: 2,
      isCut: false,
    });
    const pair = { tree: { kind: 'pair', pair: [true, { left: null }] } };
    expect(reportOf(pair).paths.slice(3)).toEqual([
      'tree.pair: array 2',
      'tree.pair[]: boolean null',
      'tree.pair[]: object 1',
      'tree.pair[].left: null null',
    ]);
  });

  it('contains no name outside the contract, even if every object has that name', () => {
    const value: unknown = JSON.parse(
      '{"__proto__":{"a":1},"constructor":1,"toString":{"left":1},"properties":1,"type":1}',
    );
    expect(reportOf(value)).toEqual({ paths: ['$: object 5'], unknownMembers: 5, isCut: false });
    expect(shapeOf({ left: 1 }, knownMembersOf(undefined))).toMatchObject({ unknownMembers: 1 });
  });

  it('has a limited size, and states when it was cut', () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`m${n}`, n]));
    const wide = knownMembersOf(
      z.strictObject(Object.fromEntries(Object.keys(many).map((name) => [name, z.number()]))),
    );
    const shape = shapeOf(many, wide);
    expect([shape.members.length, shape.isCut]).toEqual([100, true]);
    const list = knownMembersOf(z.array(z.strictObject({ a: z.string() })));
    let reads = 0;
    const items = new Proxy(new Array(1_000_000).fill({ a: 'x' }), {
      get: (all, member) => {
        reads += 1;
        return Reflect.get(all, member) as unknown;
      },
    });
    expect(shapeOf(items, list)).toMatchObject({ isCut: true, members: { length: 3 } });
    expect(reads).toBeLessThan(items.length / 100);
  });
});

describe('the queue of reports', () => {
  it('is bounded while the database is unavailable, is written in batches afterwards, and delays no call', async () => {
    let release = () => undefined as void;
    const stands = new Promise<void>((resolve) => (release = resolve));
    const written: number[] = [];
    const dropped: string[] = [];
    const writer = new ReportWriter<number>({
      waitingMax: 500,
      write: async (batch) => {
        await stands;
        written.push(batch.length);
      },
      onDropped: (why, count) => dropped.push(`${why} ${count}`),
    });
    writer.add(0);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    for (let n = 1; n <= 503; n += 1) writer.add(n);
    expect(dropped).toEqual(['full 1', 'full 1', 'full 1']);
    release();
    await writer.stop();
    expect(written).toEqual([1, 100, 100, 100, 100, 100]);
  });

  it('is dropped with the first batch that fails while the process stops', async () => {
    const dropped: string[] = [];
    const failed = new Error('gone');
    const writer = new ReportWriter<number>({
      waitingMax: 500,
      write: () => Promise.reject(failed),
      onDropped: (why, count, error) => dropped.push(`${why} ${count} ${String(error)}`),
    });
    for (let n = 0; n < 250; n += 1) writer.add(n);
    await writer.stop();
    expect(dropped).toEqual(['not_written 250 Error: gone']);
    writer.add(1);
    await writer.stop();
    expect(dropped).toHaveLength(2);
  });
});
