import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { encodeBase64Url, portableProvider, type CryptoProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, parseLogPolicy, verifyExport } from '../src/index.ts';
import { verificationErrorCodes } from '../src/verification-error.ts';
import { makeReceiptVectors } from './receipt-vectors.ts';
import type { ReceiptVector } from './receipt-vector.ts';
import { clauseOf } from './vector-clauses.ts';

const folder = new URL('../../../contracts/vectors/receipts/', import.meta.url);
const pieces = ['valid', 'incomplete', 'undecidable', 'invalid'];
const made = Object.fromEntries(
  Object.entries(await makeReceiptVectors()).map(([name, { about, ...vector }]) => [
    name,
    { about, clause: clauseOf(name), ...vector },
  ]),
);
// UPDATE_VECTORS=1 rewrites the committed files. All other runs compare them with the generator.
if (process.env['UPDATE_VECTORS'] === '1') writeVectors();

/**
 * Without native curves, a signature takes milliseconds. Most signatures of the vectors are the same, so results are
 * cached.
 */
const slow = remembering(portableProvider);

describe('receipt vectors', () => {
  it.each(filesOf())('%s has its stated answer', (name) => {
    const vector = JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as ReceiptVector; // our own file
    expect(vector).toEqual(made[name]);
    for (const provider of [nodeProvider, slow]) {
      const policy = vector.policy === undefined ? undefined : parseLogPolicy(vector.policy, provider);
      const report = verifyExport(vector.export, { trust: parseKeySet(vector.keys), provider, policy });
      const { code, line, ...expected } = vector.expect;
      expect([report.fault?.code, report]).toEqual([code, expect.objectContaining(expected)]);
      if (line !== undefined) expect(report.fault?.line).toBe(line);
    }
  });

  it('are complete', () => {
    expect(filesOf().sort()).toEqual(Object.keys(made).sort());
  });
});

describe('the verification specification', () => {
  const page = readFileSync(new URL('../../../docs/verification-specification.md', import.meta.url), 'utf8');
  const clauses = new Map(
    page
      .split(/^- \*\*/m)
      .slice(1)
      .map((text) => [text.split('*', 1)[0] ?? '', text.split(/^## /m, 1)[0] ?? '']),
  );
  const codesIn = (text: string) => new Set(text.match(/(?<=`)[A-Z]+(_[A-Z]+)*(?=`)/g));

  it.each(Object.entries(made))('contains in its clause the code of %s', (_name, { clause, expect: answer }) => {
    const text = clauses.get(clause);
    expect(text).toBeDefined();
    if (answer.code !== undefined) expect([...codesIn(text ?? '')]).toContain(answer.code);
  });

  it('has a clause for each fault code', () => {
    const codes = codesIn(page);
    expect(verificationErrorCodes.filter((code) => !codes.has(code))).toEqual([]);
  });
});

function remembering(provider: CryptoProvider): CryptoProvider {
  const answers = new Map<string, boolean>();
  return {
    ...provider,
    verifyEd25519: (...values) => {
      const requested = values.map((bytes) => encodeBase64Url(bytes)).join('.');
      const isKnown = answers.get(requested) ?? provider.verifyEd25519(...values);
      answers.set(requested, isKnown);
      return isKnown;
    },
  };
}

function filesOf(): string[] {
  return pieces.flatMap((chunk) =>
    readdirSync(new URL(`${chunk}/`, folder)).map((file) => `${chunk}/${file.replace('.json', '')}`),
  );
}

function writeVectors(): void {
  for (const chunk of pieces) rmSync(new URL(`${chunk}/`, folder), { recursive: true, force: true });
  for (const chunk of pieces) mkdirSync(new URL(`${chunk}/`, folder), { recursive: true });
  for (const [name, vector] of Object.entries(made)) {
    writeFileSync(new URL(`${name}.json`, folder), `${JSON.stringify(vector, null, 2)}\n`);
  }
}
