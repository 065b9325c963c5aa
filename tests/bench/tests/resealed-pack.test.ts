import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { PackSealer } from '../src/packs/resealed-pack.ts';

const place = new URL('../../../contracts/vectors/packs/one-session.json', import.meta.url);
const vector = JSON.parse(readFileSync(place, 'utf8')) as { keys: { keys: never[] }; pack: string[] }; // our own file

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-resealed-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a resealed pack of any size verifies with its own keys', async () => {
  const sealer = new PackSealer(vector.pack);
  const trust = parseKeySet(sealer.keysFrom(vector.keys.keys));
  for (const size of [1, 2, 37, 256]) {
    const path = join(folder, `${size}.jsonl`);
    await sealer.write(path, size);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const { verdict, fault, receipts } = verifyExport(lines, { trust, provider: nodeProvider });
    expect({ verdict, fault: fault ?? null, receipts }).toEqual({ verdict: 'VERIFIED', fault: null, receipts: size });
    // A verifier that accepts everything would be fast, too.
    const changed = lines.with(-2, (lines.at(-2) ?? '').replace('"verdict":"ALLOW"', '"verdict":"DENY"'));
    expect(verifyExport(changed, { trust, provider: nodeProvider }).verdict).toBe('NOT_VERIFIED');
  }
});
