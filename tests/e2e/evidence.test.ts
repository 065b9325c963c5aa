import { beforeAll, describe, expect } from '@jest/globals';
import type { ApiKeyScope } from '@countersign/contracts/gateway';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyExport, type TrustedKey } from '@countersign/verifier';
import { checkExport, type Verification } from '@countersign/contracts/control-plane';
import { createClient } from '@countersign/contracts';
import { addressBook, kernelClient, type SignedIn, signIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const from = new Date().toISOString();
let system: SharedSystem;
let trust: TrustedKey[];
let ada: SignedIn;
let bob: SignedIn;

beforeAll(async () => {
  system = await sharedSystem();
  [ada, bob] = [await signIn(system, address('ada')), await signIn(system, address('bob'))];
  for (const [person, session] of [
    ...[[ada, 's1'] as const, [bob, 's1'] as const],
    ...[[ada, 's2'] as const, [ada, 's1'] as const],
  ])
    await evaluate(person, session);
  trust = parseKeySet((await kernelClient(system, ada.workspaceId).listTrustKeys()).body);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function keyOf({ client }: SignedIn, scopes: ApiKeyScope[]): Promise<string> {
  const body = { name: 'key', role: 'member', scopes, expiresInDays: 1 } as const;
  return (await client.createApiKey({ body })).body.key;
}

async function evaluate(person: SignedIn, session_id: string): Promise<void> {
  const call = { action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id };
  const headers = { 'content-type': 'application/json', ...bearer(await keyOf(person, ['agent'])) };
  const body = JSON.stringify(call);
  const sent = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), { method: 'POST', headers, body });
  expect(sent.status).toBe(200);
}

function ask(headers: Record<string, string>, to = new Date().toISOString()): Promise<Response> {
  return fetch(new URL(`/api/v1/receipts/export?from=${from}&to=${to}`, system.gatewayUrl), { headers });
}

const stranger = () => createClient({ checkExport }, { baseUrl: system.gatewayUrl });

async function checked(text: string, expected: object = {}): Promise<Verification> {
  const body = { export: text, expect: expected } as never; // the schema has these members
  return (await stranger().checkExport({ body })).body;
}

function reportOn(text: string, tenant: string) {
  const lines = text.split('\n').filter((line) => line !== '');
  return verifyExport(lines, { trust, provider: nodeProvider, tenant, from });
}

describe('the evidence of a period', () => {
  verifies(
    'gw.governance',
    'is exported by a member with a session or a workspace key, and verifies offline',
    async () => {
      const headers = { ...bearer(ada.token), 'x-workspace-id': ada.workspaceId };
      const key = await keyOf(ada, ['read']);
      const [bySession, byKey] = await Promise.all([ask(headers), ask(bearer(key))]);
      for (const text of [await bySession.text(), await byKey.text()]) {
        const report = reportOn(text, ada.workspaceId);
        expect(report).toMatchObject({
          verdict: 'VERIFIED',
          completeness: 'COMPLETE',
          signer: 'TRUSTED',
          time: 'LOGGED',
        });
        expect(report.receipts).toBeGreaterThanOrEqual(3);
        expect(text).not.toContain(bob.workspaceId);
      }
      const settled = new Date().toISOString();
      const listed = await fetch(new URL(`/api/v1/receipts?limit=200&from=${from}&to=${settled}`, system.gatewayUrl), {
        headers,
      });
      const { data } = (await listed.json()) as { data: object[] };
      const whole = reportOn(await (await ask(headers, settled)).text(), ada.workspaceId);
      expect([whole.verdict, whole.receipts]).toEqual(['VERIFIED', data.length]);
    },
  );

  verifies('gw.governance', 'is hidden from other workspaces, and from keys without the right to read', async () => {
    const stranger = { ...bearer(bob.token), 'x-workspace-id': ada.workspaceId };
    expect((await ask(stranger)).status).toBe(404);
    expect((await ask(bearer(await keyOf(ada, ['agent'])))).status).toBe(403);
    expect((await ask({})).status).toBe(401);
    const own = await (await ask({ ...bearer(bob.token), 'x-workspace-id': bob.workspaceId })).text();
    expect(own).not.toContain(ada.workspaceId);
    expect(reportOn(own, bob.workspaceId)).toMatchObject({ verdict: 'VERIFIED' });
    expect(reportOn(own, ada.workspaceId).fault?.code).toBe('SUBJECT_MISMATCH');
  });

  verifies(
    'cp.public',
    'is verified for any sender with the published keys, with the same results as the command',
    async () => {
      const headers = { ...bearer(ada.token), 'x-workspace-id': ada.workspaceId };
      const text = await (await ask(headers)).text();
      const offline = reportOn(text, ada.workspaceId);
      const whole = await checked(text, { tenant: ada.workspaceId, from });
      const { verdict, integrity, completeness, signer, time, receipts, records, proofs, keys } = offline;
      expect(whole).toEqual({
        ...{ verdict, integrity, completeness, signer, time, receipts, records, proofs, keys },
        ...{ fault: null, missing: [], broken_glass: 0, issuer_defects: 0 },
      });
      expect(whole.verdict).toBe('VERIFIED');
      const lines = text.split('\n');
      const [header = '', first = ''] = lines;
      const at = lines.findIndex((line) => line.includes('"crm.read"'));
      const changed = lines.with(at, (lines[at] ?? '').replace('"crm.read"', '"crm.drop"')).join('\n');
      expect(await checked(changed)).toMatchObject({
        ...{ verdict: 'NOT_VERIFIED', integrity: 'BROKEN', fault: { line: at + 1 } },
      });
      expect(await checked([header, first].join('\n'))).toMatchObject({ verdict: 'INCOMPLETE', integrity: 'VERIFIED' });
      expect(await checked(text, { tenant: bob.workspaceId })).toMatchObject({
        fault: { code: 'SUBJECT_MISMATCH' },
      });
      const strange = first.replace(/"key_id":"[^"]+"/, '"key_id":"nobodys"');
      expect(await checked([header, strange].join('\n'))).toMatchObject({ verdict: 'UNDECIDABLE', signer: 'UNKNOWN' });
    },
  );
});
