import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { finished } from '../finished-promises.ts';
import { promises, type PromiseId } from '../promises.ts';
import { catalogue } from '../../services/gateway/src/capabilities/catalogue.ts';
import { nodesOf, parse } from './import-graph.ts';
import { listFiles, readSyntax, readText, written } from './repository.ts';

/** The promise ids that a test file proves, read from its syntax. Comments and strings do not count. */
function provenIn(syntax: ts.SourceFile): string[] {
  return nodesOf(syntax).flatMap((node) =>
    ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'verifies'
      ? [idOf(node, syntax)]
      : [],
  );
}

const provenInText = (text: string) => provenIn(parse('a.test.ts', text));

function idOf({ arguments: [id] }: ts.CallExpression, syntax: ts.SourceFile): string {
  return id && ts.isStringLiteral(id) ? id.text : `not a string literal: ${id?.getText(syntax) ?? 'nothing'}`;
}

const existing = new Set<string>(promises.map(({ id }) => id));

function unknownIds(ids: string[]): string[] {
  return ids.filter((id) => !existing.has(id));
}

function unproven(required: readonly PromiseId[], ids: string[]): string[] {
  return required.filter((id) => !ids.includes(id));
}

describe('promises', () => {
  const tests = written().flatMap((folder) => [...listFiles(folder, '.test.ts'), ...listFiles(folder, '.test.tsx')]);
  const claiming = tests.filter((path) => readText(path).includes('verifies('));
  const proven = claiming.flatMap((path) => provenIn(readSyntax(path).syntax));

  it('are listed once each', () => {
    expect(promises.map(({ id }) => id)).toHaveLength(existing.size);
    expect(promises.filter(({ promise }) => promise.trim() === '')).toEqual([]);
  });

  it('of finished areas have a test each', () => {
    expect(unproven(finished, proven)).toEqual([]);
  });

  it('are named correctly by every test that claims to prove one', () => {
    expect(unknownIds(proven)).toEqual([]);
  });

  it("are each in one entry of the gateway's catalogue, as proven or unproven", () => {
    const claimed = catalogue.flatMap((entry) => entry.promises);
    expect(claimed.toSorted()).toEqual([...existing].toSorted());
    const without = [...existing].filter((id) => !finished.some((done) => done === id));
    expect(catalogue.flatMap((entry) => entry.unproven).toSorted()).toEqual(without.toSorted());
  });

  it('are checked: the check finds a missing proof, an unknown id and a computed id', () => {
    const claims = provenInText(
      `verifies('kn.evaluate', 'x', f); verifies('kn.nonsense', 'x', f); verifies(id, 'x', f);`,
    );
    expect(unproven(['kn.evaluate', 'kn.chain'], claims)).toEqual(['kn.chain']);
    expect(unknownIds(claims)).toEqual(['kn.nonsense', 'not a string literal: id']);
    expect(provenInText(`// verifies('kn.chain', 'in a comment')\nconst s = "verifies('kn.chain')";`)).toEqual([]);
  });
});
