import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { hostEvidenceNotice, type HostChainReport } from '@countersign/contracts/governance-kernel';
import { runCountersign } from '../src/index.ts';

const dir = mkdtempSync(join(tmpdir(), 'countersign-host-'));
const digest = `sha256:${'1'.repeat(64)}`;
const ulid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const at = '2026-11-29T10:00:00.000Z';
const notice = { enforcement: false, notice: hostEvidenceNotice };
const source = { vendor: 'example', profile: 'ebpf-egress' };
const event = {
  ...{ kind: 'network_egress', observed_at: at, destination_host: 'api.example', destination_port: 443 },
  ...{ protocol: 'tcp', bytes_sent: 1, bytes_received: 0 },
};
const receipt = { receipt_id: 'e-1', host_id: 'h', prev_receipt_hash: null, subject: {}, event, receipt_hash: digest };
const chain = { schema_version: 'countersign/host-chain.v1', chain_id: 'c', source, receipts: [receipt] };

const judged = {
  ...{ position: 1, host_receipt_id: 'e-1', host_receipt_hash: digest, state: 'not_verified', reasons: ['unsigned'] },
  ...{ correlation: 'correlated', decision_receipt_id: `rcp_${ulid}`, matched_by: ['destination'], drift: null },
} as HostChainReport['receipts'][number]; // the schema brands it
const report = {
  ...{ host_chain_id: `hch_${ulid}`, tenant_id: 'acme', chain_id: 'c', chain_hash: digest, source },
  ...{ key_source: 'pinned_by_importer', key_ids: [], receipts: [judged], imported_by: 'olga', imported_at: at },
  counts: { receipts: 1, verified: 0, not_verified: 1, failed: 0, drift: 0 },
  ...{ receipt_id: `rcp_${ulid}`, ...notice },
};
const drift = {
  ...{ drift_id: `hdr_${ulid}`, kind: 'after_deny', host_chain_id: `hch_${ulid}`, chain_hash: digest },
  ...{ host_receipt_id: 'e-1', host_receipt_hash: digest, host_receipt_state: 'verified', observed_at: at },
  ...{ destination: 'api.example:443', bytes_sent: 1, decision_id: null, decision_receipt_id: null, verdict: null },
  ...{ matched_by: [], expected_destinations: [], bytes_allowed: null, bytes_counted: null },
  ...{ detected_at: at, receipt_id: `rcp_${ulid}` },
};

let server: Server;
let received: { url: string | undefined; body: unknown };
let answer: object;
beforeAll(async () => {
  server = createServer((req, res) => {
    void (async () => {
      received = { url: req.url, body: req.method === 'POST' ? await json(req) : null };
      res.setHeader('content-type', 'application/json');
      res.end(JSON.stringify(answer));
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await new Promise((resolve) => void server.close(resolve));
  rmSync(dir, { recursive: true, force: true });
});

async function run(...argv: string[]) {
  const [out, output]: [string[], string[]] = [[], []];
  const env = {
    COUNTERSIGN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    COUNTERSIGN_TOKEN: 'token',
    COUNTERSIGN_CONFIG_DIR: dir,
  };
  const status = await runCountersign(['evidence', 'host', ...argv], {
    write: (words) => void out.push(words),
    tell: (words) => void output.push(words),
    env,
    stdin: (async function* () {
      // The standard input is empty.
    })(),
    signal: new AbortController().signal,
  });
  return { status, out: out.join(''), told: output.join('') };
}

const file = (content: string) => {
  writeFileSync(join(dir, 'import.json'), content);
  return join(dir, 'import.json');
};

it('imports a chain, and exits with 1 when it shows drift or fails', async () => {
  answer = report;
  const found = await run('import', file(JSON.stringify({ chain })));
  expect(found).toMatchObject({ status: 0, out: expect.stringMatching(/e-1 .*not_verified .*unsigned .*correlated/) });
  expect(found.told).toContain('blocks no packet');
  expect(received).toEqual({ url: '/api/v1/evidence/host/chains', body: { chain, keys: [] } });
  answer = { ...report, counts: { ...report.counts, drift: 1 } };
  expect((await run('import', file(JSON.stringify({ chain })))).status).toBe(1);
  const wrong = await run('import', file(JSON.stringify({ chain: { ...chain, chain_id: '' } })));
  expect(wrong).toMatchObject({ status: 2, told: expect.stringContaining('chain.chain_id') });
  expect((await run('import', file('{'))).status).toBe(2);
  expect((await run('import', join(dir, 'absent'))).status).toBe(2);
});

it('lists drift', async () => {
  answer = { data: [drift], next_cursor: null, ...notice };
  const { status, out } = await run('drift', '--kind', 'after_deny', '--chain', `hch_${ulid}`);
  expect([status, out]).toEqual([0, expect.stringMatching(/after_deny .*api.example:443/)]);
  expect(received.url).toContain('kind=after_deny');
});
