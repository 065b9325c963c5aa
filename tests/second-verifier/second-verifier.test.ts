import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { openApiText } from '@countersign/contracts/openapi';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import fc from 'fast-check';
import { createSecondVerifier } from './second-verifier.ts';
import type { Json } from './strict-json.ts';

type Answer = { verdict: string; code?: string; issuer_defects?: { count: number }; time?: string; witnessed?: Json };
type Vector = { clause?: string; keys: Json; policy?: string; export?: string[]; pack?: string[]; expect?: Answer };

const root = new URL('../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8');
const vectorOf = (path: string) => JSON.parse(textOf(path)) as Vector; // our own file
const secondVerifier = createSecondVerifier({
  openApi: openApiText('governance-kernel'),
  reasonCodes: textOf('docs/reference/reason-codes.md'),
});

const vectors = ['receipts/valid', 'receipts/incomplete', 'receipts/undecidable', 'receipts/invalid', 'packs'].flatMap(
  (folder) => {
    const files = readdirSync(new URL(`contracts/vectors/${folder}/`, root)).filter((file) => file.endsWith('.json'));
    return files.map((file) => `contracts/vectors/${folder}/${file}`);
  },
);

describe('a verifier that was written from the specification page', () => {
  it.each(vectors)('reports what %s states', (path) => {
    const { keys, policy, expect: stated = { verdict: 'VERIFIED' }, ...evidence } = vectorOf(path);
    const report = secondVerifier(evidence.export ?? evidence.pack ?? [], keys, policy);
    expect([report.verdict, report.code, report]).toEqual([stated.verdict, stated.code, report]);
    expect(report.issuer_defects).toBe(stated.issuer_defects?.count ?? 0);
    expect(report.witnessed).toEqual(stated.witnessed ?? null);
    if (stated.time !== undefined) expect(report.time).toBe(stated.time);
  });

  it("rejects a pack with one changed byte, with the same verdict as the product's verifier", () => {
    const { keys, pack = [] } = vectorOf('contracts/vectors/packs/one-session.json');
    const options = { trust: parseKeySet(keys), provider: nodeProvider };
    fc.assert(
      fc.property(changeOf(pack), (changed) => {
        const { verdict, code } = secondVerifier(changed, keys);
        expect(verdict).not.toBe('VERIFIED');
        expect(verifyExport(changed, options)).toMatchObject({ verdict, fault: { code: expect.any(String) } });
        expect(code).toBeDefined();
      }),
      { numRuns: 300 },
    );
  });

  it('imports no code of the product', () => {
    const folder = new URL('tests/second-verifier/', root);
    const files = readdirSync(folder).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
    const pattern = /^(?:import|export) [^;]*?from '([^']+)'|\bimport\('([^']+)'\)/gm;
    const imports = files.flatMap((file) =>
      [...textOf(`tests/second-verifier/${file}`).matchAll(pattern)].map(([, from, dynamic]) => from ?? dynamic ?? ''),
    );
    expect(imports).toContain('node:crypto');
    expect(imports.filter((from) => !/^(?:node:|\.\/[\w-]+\.ts$)/.test(from))).toEqual([]);
  });
});

/** The same lines, with one character of one line replaced by another printable character. */
function changeOf(lines: string[]): fc.Arbitrary<string[]> {
  const places = lines.flatMap((line, at) => Array.from(line, (_, index) => ({ at, index })));
  return fc
    .record({ place: fc.constantFrom(...places), character: fc.integer({ min: 0x20, max: 0x7e }) })
    .filter(({ place: { at, index }, character }) => lines[at]?.charCodeAt(index) !== character)
    .map(({ place: { at, index }, character }) =>
      lines.map((line, each) => {
        if (each !== at) return line;
        return `${line.slice(0, index)}${String.fromCharCode(character)}${line.slice(index + 1)}`;
      }),
    );
}
