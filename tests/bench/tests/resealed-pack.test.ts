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

type Line = { proof: unknown; receipt: { payload: Record<string, unknown>; signature: unknown }; record?: object };

/** The pack with its last decision as a call that the kernel executed, followed by its outcome. */
function withOutcome(lines: readonly string[]): string[] {
  const at = lines.length - 2;
  const { proof, receipt, record } = JSON.parse(lines[at] ?? '') as Line; // our own file
  const { payload, signature } = receipt;
  const { approval_id: _approval, ...decided } = payload;
  const outcome = {
    ...{ ...decided, kind: 'outcome', outcome: 'completed', output_hash: payload['args_hash'] },
    ...{ receipt_id: 'rcp_01M8J5WZZZZZZZZZZZZZZZZZZZ', decision_receipt_id: payload['receipt_id'] },
  };
  const decision = JSON.stringify({ proof, receipt, record: { ...record, dispatched_by: 'kernel' } });
  const settled = JSON.stringify({ proof, receipt: { payload: outcome, signature } });
  return [...lines.slice(0, at), decision, settled, ...lines.slice(at + 1)];
}

it.each([
  ['calls of their callers', vector.pack],
  ['a settled call of the kernel', withOutcome(vector.pack)],
])('a resealed pack of any size verifies with its own keys: %s', async (_name, pack) => {
  const sealer = new PackSealer(pack);
  const trust = parseKeySet(sealer.keysFrom(vector.keys.keys));
  for (const size of [1, 2, 37, 256]) {
    const path = join(folder, `${size}.jsonl`);
    await sealer.write(path, size);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const { verdict, fault, receipts } = verifyExport(lines, { trust, provider: nodeProvider });
    expect({ verdict, fault: fault ?? null, receipts }).toEqual({ verdict: 'VERIFIED', fault: null, receipts: size });
    expect(lines.some((line) => line.includes('"kind":"outcome"'))).toBe(pack !== vector.pack && size > 1);
    // A verifier that accepts everything would be fast, too.
    const changed = lines.with(-2, (lines.at(-2) ?? '').replace('"verdict":"ALLOW"', '"verdict":"DENY"'));
    expect(verifyExport(changed, { trust, provider: nodeProvider }).verdict).toBe('NOT_VERIFIED');
  }
});
