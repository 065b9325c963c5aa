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

/** The pack with its first decision in a session of its own. It is older than the other one. */
function withOlderSession([header = '', policy = '', first = '', ...rest]: readonly string[]): string[] {
  const { proof, receipt, record } = JSON.parse(first) as Line; // our own file
  const session_id = 'an-older-session';
  const moved = { payload: { ...receipt.payload, session_id }, signature: receipt.signature };
  return [header, policy, JSON.stringify({ proof, receipt: moved, record: { ...record, session_id } }), ...rest];
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
    const isSettled = pack.some((line) => line.includes('"kind":"outcome"'));
    expect(lines.some((line) => line.includes('"kind":"outcome"'))).toBe(isSettled && size > 1);
    // A verifier that accepts everything would be fast, too.
    const changed = lines.with(-2, (lines.at(-2) ?? '').replace('"verdict":"ALLOW"', '"verdict":"DENY"'));
    expect(verifyExport(changed, { trust, provider: nodeProvider }).verdict).toBe('NOT_VERIFIED');
  }
});

it('all receipts of a pack have the time of the latest decision, since times of a log never decrease', async () => {
  const pack = withOlderSession(vector.pack);
  const path = join(folder, 'ages.jsonl');
  await new PackSealer(pack).write(path, 6);
  const issuedIn = (lines: readonly string[]) =>
    lines.slice(2, -1).map((line) => (JSON.parse(line) as Line).receipt.payload['issued_at']); // our own file
  const [older, latest] = issuedIn(pack);
  expect(older).not.toBe(latest);
  expect(issuedIn(readFileSync(path, 'utf8').trimEnd().split('\n'))).toEqual(Array(6).fill(latest));
});
