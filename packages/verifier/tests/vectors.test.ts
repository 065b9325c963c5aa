import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { encodeBase64Url, portableProvider, type CryptoProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '../src/index.ts';
import { verificationErrorCodes } from '../src/verification-error.ts';
import { makeReceiptVectors } from './receipt-vectors.ts';
import type { ReceiptVector } from './receipt-vector.ts';
import { clauseOf } from './vector-clauses.ts';

const folder = new URL('../../../contracts/vectors/receipts/', import.meta.url);
const parts = ['valid', 'incomplete', 'undecidable', 'invalid'];
const made = Object.fromEntries(
  Object.entries(await makeReceiptVectors()).map(([name, { about, ...vector }]) => [
    name,
    { about, clause: clauseOf(name), ...vector },
  ]),
);
// Rewrites the committed files: UPDATE_VECTORS=1. Every other run holds them against the generator.
if (process.env['UPDATE_VECTORS'] === '1') writeVectors();

/** Without a platform's own curve a signature takes milliseconds, and vectors have most of theirs in common. */
const slow = remembering(portableProvider);

describe('receipt vectors', () => {
  it.each(filesOf())('%s is answered as it says', (name) => {
    const vector = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as ReceiptVector; // our own file
    expect(vector).toEqual(made[name]);
    for (const provider of [nodeProvider, slow]) {
      const report = verifyExport(vector.export, { trust: parseKeySet(vector.keys), provider });
      const { code, line, ...expected } = vector.expect;
      expect([report.fault?.code, report]).toEqual([code, expect.objectContaining(expected)]);
      if (line !== undefined) expect(report.fault?.line).toBe(line);
    }
  });

  it('are all there', () => {
    expect(filesOf().sort()).toEqual(Object.keys(made).sort());
  });
});

describe('the specification', () => {
  const page = readFileSync(new URL('../../../docs/verification-specification.md', import.meta.url), 'utf8');
  const clauses = new Map(
    page
      .split(/^- \*\*/m)
      .slice(1)
      .map((text) => [text.split('*', 1)[0] ?? '', text.split(/^## /m, 1)[0] ?? '']),
  );
  const codesIn = (text: string) => new Set(text.match(/(?<=`)[A-Z]+(_[A-Z]+)*(?=`)/g));

  it.each(Object.entries(made))('names in its clause what %s is answered with', (_name, { clause, expect: answer }) => {
    const text = clauses.get(clause);
    expect(text).toBeDefined();
    if (answer.code !== undefined) expect([...codesIn(text ?? '')]).toContain(answer.code);
  });

  it('has a clause for each code of a fault', () => {
    const codes = codesIn(page);
    expect(verificationErrorCodes.filter((code) => !codes.has(code))).toEqual([]);
  });
});

function remembering(provider: CryptoProvider): CryptoProvider {
  const answers = new Map<string, boolean>();
  return {
    ...provider,
    verifyEd25519: (...given) => {
      const asked = given.map((bytes) => encodeBase64Url(bytes)).join('.');
      const known = answers.get(asked) ?? provider.verifyEd25519(...given);
      answers.set(asked, known);
      return known;
    },
  };
}

function filesOf(): string[] {
  return parts.flatMap((part) =>
    readdirSync(new URL(`${part}/`, folder)).map((file) => `${part}/${file.replace('.json', '')}`),
  );
}

function writeVectors(): void {
  for (const part of parts) rmSync(new URL(`${part}/`, folder), { recursive: true, force: true });
  for (const part of parts) mkdirSync(new URL(`${part}/`, folder), { recursive: true });
  for (const [name, vector] of Object.entries(made)) {
    writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(vector, null, 2)}\n`);
  }
}
