import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BoundaryRecord, ExportedReceipt } from '@countersign/contracts/governance-kernel';
import { portableProvider } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { recordHash } from '@countersign/receipts';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, verifyRecord } from '@countersign/verifier';
import { send, Caller, newSession } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: evidence
version: '1'
rules:
  - { id: all, effect: escalate, match: { tool: ['*'] } }
`;

let test: TestKernel;
let lines: object[];
let vouched: ExportedReceipt;
let vote: ExportedReceipt;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin } });
  await test.activate('*', policy);
  const [alice, bob] = [new Approver(test, 'alice'), new Approver(test, 'bob')];
  await alice.enrol();
  await bob.enrol();
  await alice.vouchFor(bob);
  const call = { tool: 'pay.send', session_id: newSession() };
  const agent = new Caller(test);
  const id = send(await agent.decide(call));
  await bob.decide(id);
  await agent.decide(call);
  lines = await exported(call.session_id);
  vote = found(lines, 'approval.approve');
  vouched = found(await exported('passkeys'), 'passkey.vouch');
});
afterAll(() => test.close());

async function exported(session: string): Promise<object[]> {
  const { body } = await test.as('acme').exportReceipts({ query: { session_id: session } });
  return body; // lines of JSON
}

function found(of: object[], action: string): ExportedReceipt {
  const line = (of as ExportedReceipt[]).find(({ record }) => record?.intent.action === action);
  if (line === undefined) throw new Error(`no line is ${action}`);
  return line;
}

const trust = async () => parseKeySet((await test.as('acme').listTrustKeys()).body);
type Facts = Record<string, never> & { statement: Record<string, unknown> };

/** Verifies what a lying kernel would seal: the changed record, and a receipt with its hash. */
function judged(
  { record, receipt }: ExportedReceipt,
  change: (facts: Facts) => object,
  provider = nodeProvider,
): string {
  const lying = structuredClone(record) as BoundaryRecord;
  Object.assign(lying.intent.facts, change(lying.intent.facts as Facts));
  lying.record_hash = recordHash(nodeProvider, lying);
  const { payload, signature } = receipt;
  try {
    verifyRecord(lying, { payload: { ...payload, record_hash: lying.record_hash }, signature }, provider);
    return 'VERIFIED';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const inStatement = (members: object) => (facts: Facts) => ({ statement: { ...facts.statement, ...members } });
const inClientData = (members: object) => (facts: Facts) => {
  const statement = JSON.parse(Buffer.from(facts['client_data_json'] ?? '', 'base64url').toString()) as object;
  return { client_data_json: Buffer.from(JSON.stringify({ ...statement, ...members })).toString('base64url') };
};
const flipped = (name: string, at: number) => (facts: Facts) => {
  const bytes = Buffer.from(facts[name] ?? '', 'base64url');
  bytes[at] = (bytes[at] ?? 0) ^ 0x01;
  return { [name]: bytes.toString('base64url') };
};
const otherHash = `sha256:${'1'.repeat(64)}`;

describe('an approval signed with a passkey', () => {
  verifies('kn.approve.webauthn', 'verifies offline with its export and the published keys', async () => {
    const report = verifyExport(
      lines.map((line) => JSON.stringify(line)),
      { trust: await trust(), provider: nodeProvider },
    );
    expect(report).toMatchObject({ verdict: 'VERIFIED', fault: null });
    expect(judged(vote, () => ({}))).toBe('VERIFIED');
    expect(judged(vouched, () => ({}))).toBe('VERIFIED');
  });

  it.each<[string, string, (facts: Facts) => object]>([
    ['a statement of another decision', 'ASSERTION_MISMATCH', inStatement({ decision: 'deny' })],
    ['a statement of another approver', 'ASSERTION_MISMATCH', inStatement({ approver_id: 'mallory' })],
    ['a statement of another intent', 'ASSERTION_MISMATCH', inStatement({ intent_hash: otherHash })],
    ['a statement of another judged hash', 'ASSERTION_MISMATCH', inStatement({ judged_hash: otherHash })],
    ['a statement of another state', 'ASSERTION_MISMATCH', inStatement({ ceremony_hash: otherHash })],
    ['a statement of another policy', 'ASSERTION_MISMATCH', inStatement({ policy_hash: otherHash })],
    ['a statement of another tenant', 'ASSERTION_MISMATCH', inStatement({ tenant_id: 'globex' })],
    ['an expired statement', 'ASSERTION_MISMATCH', inStatement({ expires_at: '2020-01-01T00:00:00.000Z' })],
    ['a statement of another nonce', 'ASSERTION_INVALID', inStatement({ nonce: 'A'.repeat(43) })],
    ['another relying party', 'ASSERTION_INVALID', inStatement({ rp_id: 'evil.example' })],
    ['a registration', 'ASSERTION_INVALID', inClientData({ type: 'webauthn.create' })],
    ['another challenge', 'ASSERTION_INVALID', inClientData({ challenge: 'A'.repeat(43) })],
    ['another origin', 'ASSERTION_INVALID', inClientData({ origin: 'https://evil.example' })],
    ['a cross-origin frame', 'ASSERTION_INVALID', inClientData({ crossOrigin: true })],
    ['unsigned client data', 'ASSERTION_INVALID', inClientData({ more: 1 })],
    ['client data that is not JSON', 'MALFORMED', () => ({ client_data_json: 'AAAA' })],
    ['other flags', 'ASSERTION_INVALID', flipped('authenticator_data', 32)],
    ['another counter', 'ASSERTION_INVALID', flipped('authenticator_data', 36)],
    ['truncated authenticator data', 'ASSERTION_INVALID', () => ({ authenticator_data: 'AAAA' })],
    ['another signature', 'ASSERTION_INVALID', flipped('signature', 12)],
    ['the key of another person', 'ASSERTION_INVALID', (facts) => ({ public_key: otherKey(facts) })],
    ['no signature', 'MALFORMED', () => ({ signature: '' })],
  ])('is rejected with %s', (_what, code, change) => {
    expect(judged(vote, change)).toBe(code);
  });

  it.each<[string, string, (facts: Facts) => object]>([
    ['another person', 'ASSERTION_MISMATCH', inStatement({ principal_id: 'mallory' })],
    ['another passkey', 'ASSERTION_MISMATCH', inStatement({ credential_id: 'AAAA' })],
    ['the key of another passkey', 'ASSERTION_MISMATCH', (facts) => ({ enrolled_public_key: otherKey(facts) })],
    ['another person who vouches', 'ASSERTION_MISMATCH', inStatement({ vouched_by: 'mallory' })],
    ['another signature', 'ASSERTION_INVALID', flipped('signature', 12)],
  ])('is rejected when its voucher has %s', (_what, code, change) => {
    expect(judged(vouched, change)).toBe(code);
  });

  it('gets the same result with the portable crypto provider', () => {
    expect(judged(vote, () => ({}), portableProvider)).toBe(judged(vote, () => ({})));
    expect(judged(vote, flipped('signature', 12), portableProvider)).toBe('ASSERTION_INVALID');
  });

  verifies('kn.approve.webauthn', 'makes the verifier command fail after tampering', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-passkeys-'));
    const cli = fileURLToPath(new URL('../../../packages/verifier/dist/cli.js', import.meta.url));
    const keys = join(folder, 'keys.json');
    writeFileSync(keys, JSON.stringify((await test.as('acme').listTrustKeys()).body));
    const run = (text: string) => {
      const file = join(folder, 'export.jsonl');
      writeFileSync(file, text);
      return spawnSync(process.execPath, [cli, file, '--keys', keys], { encoding: 'utf8' });
    };
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    expect(run(text)).toMatchObject({ status: 0 });
    const { signature } = vote.record?.intent.facts as { signature: string };
    const tampered = run(text.replace(signature, `${signature.slice(0, -4)}AAAA`));
    expect(tampered.status).toBe(1);
    expect(tampered.stdout).toContain(vote.receipt.payload.receipt_id);
    rmSync(folder, { recursive: true });
  });
});

function otherKey(facts: Facts): object {
  const { x, y, ...rest } = facts['public_key'] as unknown as { x: string; y: string };
  return { ...rest, x: y, y: x };
}
