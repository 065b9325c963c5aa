import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { HostChain, RecorderKey } from '@countersign/contracts/governance-kernel';
import { adminKey, startTestKernel, starterPolicy, type TestKernel } from './_kernel.ts';
import { Recorder, type Seen } from './_recorder.ts';

let test: TestKernel;
const recorder = new Recorder();
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('acme', starterPolicy);
});
afterAll(() => test?.close());

let chains = 0;
const newChain = (events: readonly Seen[]) => recorder.chain(`chain-${(chains += 1)}`, events);
const load = async (chain: HostChain, keys: RecorderKey[] = [recorder.key]) =>
  (await test.as('acme', 'olga').importHostChain({ query: {}, body: { chain, keys } })).body;

describe('docs/host-evidence.md', () => {
  it('contains a recorder program whose chain is verified', async () => {
    const text = readFileSync(new URL('../../../docs/host-evidence.md', import.meta.url), 'utf8');
    const [, program = ''] = /```js\n([^]*?)```/.exec(text) ?? [];
    const printed = execFileSync(process.execPath, ['--input-type=module', '-'], { input: program, encoding: 'utf8' });
    const { chain, keys } = JSON.parse(printed) as { chain: HostChain; keys: RecorderKey[] }; // checked by the kernel
    expect((await load(chain, keys)).receipts).toMatchObject([{ state: 'verified', reasons: [] }]);
  });
});

describe('hostile input', () => {
  const post = async (body: string) => {
    const headers = {
      ...{ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme', 'content-type': 'application/json' },
    };
    const response = await fetch(new URL('/api/v1/evidence/host/chains', test.kernel.url), {
      method: 'POST',
      headers,
      body,
    });
    return response.status;
  };
  const base = () => structuredClone(newChain([{ at: Date.now(), host: 'x.example' }]));
  const changedBy = (change: (chain: HostChain & { receipts: Record<string, never>[] }) => void) => {
    const chain = base() as HostChain & { receipts: Record<string, never>[] }; // tests make it invalid
    change(chain);
    return JSON.stringify({ chain });
  };

  it('is rejected with 400 or 413, and never causes a fault', async () => {
    const event = (of: object) => changedBy((chain) => Object.assign(chain.receipts[0]?.event ?? {}, of));
    const wrong = [
      '{',
      '[]',
      '{}',
      JSON.stringify({ chain: { ...base(), receipts: [] } }),
      JSON.stringify({ chain: { ...base(), schema_version: 'external_receipt_chain.v1' } }),
      JSON.stringify({ chain: { ...base(), chain_id: 'a\u202eb' } }),
      JSON.stringify({ chain: { ...base(), more: 1 } }),
      JSON.stringify({ chain: { ...base(), receipts: Array(201).fill(base().receipts[0]) } }),
      event({ observed_at: '2026-02-30T00:00:00.000Z' }),
      event({ bytes_sent: -1 }),
      event({ bytes_sent: 1e300 }),
      event({ bytes_sent: 0.5 }),
      event({ destination_host: 'X.example' }),
      event({ destination_host: '__proto__/..' }),
      event({ destination_host: undefined }),
      event({ kind: 'action_effect' }),
      event({ destination_port: 0 }),
      changedBy((chain) => Object.assign(chain.receipts[0] ?? {}, { __proto__: null, extra: {} })),
      JSON.stringify({ chain: base(), keys: [{ ...recorder.key, public_key: 'A'.repeat(43) }] }),
      JSON.stringify({ chain: base(), keys: [recorder.key, recorder.key] }),
    ];
    for (const body of wrong) expect([body.slice(0, 80), await post(body)]).toEqual([body.slice(0, 80), 400]);
    expect(await post(JSON.stringify({ chain: 'x'.repeat(1_100_000) }))).toBe(413);
  });

  it('is rejected, but valid input at the limits is accepted: the first and last possible times, and with the maximum number of receipts', async () => {
    const host = 'x.example';
    const ends = [Date.parse('0000-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];
    for (const at of ends)
      expect((await load(newChain([{ at, host }]))).receipts).toMatchObject([{ drift: { kind: 'without_intent' } }]);
    const at = Date.now();
    const many = newChain(Array.from({ length: 200 }, (_, bytes) => ({ at, host, bytes })));
    expect((await load(many)).counts).toMatchObject({ verified: 200, drift: 200 });
  });
});
