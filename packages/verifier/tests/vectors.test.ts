import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { encodeBase64Url, portableProvider, type CryptoProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '../src/index.ts';
import { makeReceiptVectors } from './receipt-vectors.ts';
import type { ReceiptVector } from './receipt-vector.ts';

const folder = new URL('../../../contracts/vectors/receipts/', import.meta.url);
const parts = ['valid', 'incomplete', 'undecidable', 'invalid'];
const made = await makeReceiptVectors();
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
