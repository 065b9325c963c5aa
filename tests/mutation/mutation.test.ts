import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { listFiles } from '../architecture/repository.ts';

type Mutant = { key: string; room: string; file: string; lineText: string; from: string; to: string };
type Result = { total: { share: number }; isEnough: boolean; survivors: object[] };
type Node = Record<string, unknown>;

// The tools are plain JavaScript, as they run before anything is built. These are the types of the tested exports.
async function load<Exports>(name: string): Promise<Exports> {
  return (await import(new URL(name, import.meta.url).href)) as Exports;
}
const { rooms } = await load<{ rooms: Record<string, { source: string; tests: string[] }> }>('rooms.mjs');
const { sampleOf } = await load<{
  sampleOf: (mutants: Mutant[], how: { size: number; seed: string }) => Mutant[];
}>('sample.mjs');
const { resultOf } = await load<{ resultOf: (run: object) => Result }>('result.mjs');
const { strykerPlugins } = await load<{ strykerPlugins: [{ value: { shouldIgnore: (path: Node) => unknown } }] }>(
  'for-people.mjs',
);
const { KeptResults } = await load<{
  KeptResults: new (file: string) => {
    find: (mutant: object, testFiles: string[]) => object | undefined;
    record: (mutant: object, result: object, testFiles: string[]) => void;
  };
}>('kept-results.mjs');

const folder = mkdtempSync(join(tmpdir(), 'countersign-mutation-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function mutantOf(nr: number): Mutant {
  return { key: `k${nr}`, room: 'policy', file: 'a.ts', lineText: `line ${nr};`, from: 'a', to: 'b' };
}
const all = Array.from({ length: 10 }, (_, nr) => mutantOf(nr));

describe('make mutate', () => {
  it('has only source folders and tests that exist', () => {
    const files = ['packages', 'services'].flatMap((folder) => listFiles(folder, '.ts'));
    const beginnings = Object.values(rooms).flatMap(({ source, tests }) => [`${source}/`, ...tests]);
    expect(beginnings.filter((beginning) => !files.some((file) => file.startsWith(beginning)))).toEqual([]);
  });

  it('counts survivors against the tests and lists them', () => {
    const results = new Map(all.map(({ key }) => [key, { status: key === 'k0' ? 'Survived' : 'Killed' }]));
    const resultAt = (target: number) =>
      resultOf({ all, chosen: all, results, options: { rooms: ['policy'], seed: '1', target } });
    expect(resultAt(0.92)).toMatchObject({
      total: { share: 0.9 },
      isEnough: false,
      survivors: [{ lineText: 'line 0;' }],
    });
    expect(resultAt(0.9).isEnough).toBe(true);
  });

  it('takes the same sample for the same seed, with the requested size', () => {
    const keys = (seed: string, size: number) => sampleOf(all, { size, seed }).map(({ key }) => key);
    expect(keys('1', 4)).toEqual(keys('1', 4));
    expect(keys('1', 4)).toEqual(keys('1', 8).slice(0, 4));
    expect(keys('1', 10)).not.toEqual(keys('2', 10));
    expect(new Set(keys('1', 4)).size).toBe(4);
    expect(keys('1', Infinity)).toHaveLength(10);
  });

  it('ignores error texts and log statements, but neither codes nor conditions', () => {
    const [{ value }] = strykerPlugins;
    const isLeftOut = (path: Node) => value.shouldIgnore(path) !== undefined;
    const text = { type: 'StringLiteral', value: 'it is wrong' };
    const code = { type: 'StringLiteral', value: 'WRONG' };
    const made = { listKey: 'arguments', parent: { type: 'NewExpression', callee: { name: 'AppError' } } };
    const call = { listKey: 'arguments', parent: { type: 'CallExpression', callee: { name: 'malformed' } } };
    const thrown = { ...call, parentPath: { parent: { type: 'ThrowStatement' } } };
    const template = { type: 'TemplateLiteral', quasis: [{ value: { raw: 'at ' } }] };
    expect([text, template].map((node) => isLeftOut({ node, ...made }))).toEqual([true, true]);
    expect(isLeftOut({ node: text, ...thrown })).toBe(true);
    expect(isLeftOut({ node: code, ...made })).toBe(false);
    expect(isLeftOut({ node: text, ...call, parentPath: { parent: { type: 'ReturnStatement' } } })).toBe(false);
    const second = { listKey: 'arguments', parent: { type: 'NewExpression', callee: { name: 'Set' } } };
    expect(isLeftOut({ node: text, ...second })).toBe(false);
    const statement = (object: Node, name: string) => ({
      type: 'ExpressionStatement',
      expression: { type: 'CallExpression', callee: { type: 'MemberExpression', object, property: { name } } },
    });
    const ofContext = { type: 'MemberExpression', property: { name: 'log' } };
    expect(isLeftOut({ node: statement({ name: 'log' }, 'warn') })).toBe(true);
    expect(isLeftOut({ node: statement(ofContext, 'info') })).toBe(true);
    expect(isLeftOut({ node: statement(ofContext, 'append') })).toBe(false);
    expect(isLeftOut({ node: statement({ name: 'store' }, 'info') })).toBe(false);
  });

  it('keeps a result while the mutated file and the deciding tests are unchanged', () => {
    const [killing, neighbour] = ['killing.test.ts', 'other.test.ts'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    const write = (file: string, content: string) => writeFileSync(file, content);
    write(killing, '1');
    write(neighbour, '1');
    const file = join(folder, 'results.jsonl');
    const tests = [killing, neighbour];
    const [killed, lives] = [1, 2].map((nr) => ({ key: `k${nr}`, sourceHash: 'a' }));
    const kept = new KeptResults(file);
    kept.record(killed ?? {}, { status: 'Killed', killedBy: killing }, tests);
    kept.record(lives ?? {}, { status: 'Survived' }, tests);
    const isKnown = () =>
      [killed, lives].map((mutant) => new KeptResults(file).find(mutant ?? {}, tests) !== undefined);
    expect(isKnown()).toEqual([true, true]);
    expect(new KeptResults(file).find({ ...killed, sourceHash: 'b' }, tests)).toBeUndefined();
    write(neighbour, '2');
    expect(isKnown()).toEqual([true, false]);
    write(killing, '2');
    expect(isKnown()).toEqual([false, false]);
  });
});
