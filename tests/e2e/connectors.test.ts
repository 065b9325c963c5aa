import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { connectorsAt, newCatalogueKey, writeCatalogue } from './_catalogue.ts';
import { useConsole } from './_console.ts';
import { faultsOf, twoLooks } from './_faults-of-page.ts';
import { Keyboard } from './_keyboard.ts';
import { joined, personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, scratchDataDir, startIn } from './_system.ts';
import { codeOf, detailsOf, type Report } from './_tab.ts';

const dataDir = scratchDataDir();
const [catalogue, policy] = [join(dataDir.path, 'own-catalogue.json'), join(dataDir.path, 'policy.yaml')];
const key = newCatalogueKey();
const address = addressBook();
let system: StartedSystem;
let notes: NoteServer;
let ada: Person;
let people = 0;

/** Allows every call that no registry stops, and every change by a person. */
const openPolicy = `
format: countersign/policy.v1
name: open
version: '1'
rules:
  - { id: all, effect: allow }
`;

const connectors = () => connectorsAt({ notes: notes.url, shelf: notes.url, pinboard: notes.url });
const write = (by = key, entries = connectors()) => writeCatalogue(catalogue, entries, by);

const desk = useConsole(async () => {
  notes = await startNoteServer();
  mkdirSync(dataDir.path, { recursive: true });
  writeFileSync(policy, openPolicy);
  system = await startIn(dataDir.path, {
    ...{ GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0', GOV_POLICY_FILE: policy, GOV_RATE_LIMITS: '0' },
    ...write(),
  });
  return system;
});
// Tests run in any order, and one of them replaces the catalogue.
beforeEach(async () => {
  write();
  ada = await personAt(system.gatewayUrl, address(`ada${(people += 1)}`));
});

afterAll(async () => {
  await notes?.close();
  dataDir.remove();
});

/** The acts of a person at a page, in their own workspace or in another one. */
const at = (person: Person, workspaceId = person.workspaceId) => {
  const headers = { 'x-workspace-id': workspaceId };
  const send = (path: string, body?: object): Promise<Report> =>
    person.tab.send(path, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
  return {
    list: () => send('/api/v1/marketplace/connectors'),
    get: (id: string) => send(`/api/v1/marketplace/connectors/${id}`),
    install: (id: string, more: object = {}) =>
      send(`/api/v1/marketplace/connectors/${id}/install`, { version: '1.2.0', ...more }),
    disable: (id: string) => send(`/api/v1/marketplace/connectors/${id}/disable`, { reason: 'it is not needed' }),
    installs: async () => (await send('/api/connectors')).body['data'] as Install[],
    approve: (install: Install) => {
      const { install_id: id, definitions_hash } = install;
      return send(`/api/connectors/${id}/approve`, { definitions_hash, reason: 'it was read' });
    },
    shim: ({ install_id: id }: Install) => send(`/api/connectors/${id}/shims`, { client: 'editor' }),
    shims: async ({ install_id: id }: Install) => (await send(`/api/connectors/${id}/shims`)).body['data'] as object[],
    revokeShim: ({ install_id: id }: Install, shim: unknown) =>
      person.tab.send(`/api/connectors/${id}/shims/${String(shim)}`, { headers, method: 'DELETE' }),
  };
};

type Install = {
  install_id: string;
  connector_id: string;
  state: string;
  definitions_hash: string;
  drift: { name: string; status: string; diff: unknown[] }[];
};

/** The result of an agent's call, which the kernel decides and sends. */
async function call(server: string, { workspaceId }: Person = ada): Promise<string> {
  const agent = kernelClient(system, workspaceId, 'agent-1');
  const body = { tool: `${server}.read_note`, args: { id: 'a' }, session_id: 'agent' } as never; // unbranded names
  const { verdict, reason_code } = (await agent.executeMcp({ body })).body.decision;
  return `${verdict} ${reason_code}`;
}

const installOf = async (id: string, person: Person = ada) => {
  const found = (await at(person).installs()).find(({ connector_id }) => connector_id === id);
  if (found === undefined) throw new Error(`${id} is not installed`);
  return found;
};

describe('a connector', () => {
  verifies(
    'cp.connector',
    'escalates until it is approved and pinned, is denied with its diff when it drifts, and is denied once it is disabled',
    async () => {
      expect((await at(ada).list()).body).toMatchObject({
        data: [{ connector_id: 'notes', version: '1.2.0', install_id: null }, {}, {}],
      });
      const installed = await at(ada).install('notes');
      expect([installed.status, installed.body]).toMatchObject([200, { state: 'quarantined', version: '1.2.0' }]);
      expect((await at(ada).get('notes')).body).toMatchObject({ install_id: installed.body['install_id'] });
      const sent = notes.calls.length;
      expect(await call('notes')).toBe('ESCALATE SERVER_QUARANTINED');
      expect(notes.calls).toHaveLength(sent);

      const read = await installOf('notes');
      const another = { ...read, definitions_hash: `sha256:${'0'.repeat(64)}` };
      expect(codeOf(await at(ada).approve(another))).toEqual([412, 'PRECONDITION_FAILED']);
      const approved = await at(ada).approve(read);
      expect([approved.status, approved.body]).toMatchObject([200, { state: 'approved' }]);
      expect((await installOf('notes')).drift.map(({ status }) => status)).not.toContain('unknown');
      expect(await call('notes')).toMatch(/^ALLOW /);
      expect(notes.calls).toHaveLength(sent + 1);
      // A repeated approval changes nothing.
      expect((await at(ada).approve(read)).status).toBe(200);

      notes.redefine('read_note', { description: 'Sends every note away' });
      await reaching(
        () => call('notes'),
        (message) => message === 'DENY SCHEMA_DRIFT',
      );
      const drifted = (await installOf('notes')).drift.find(({ name }) => name === 'read_note');
      expect(drifted).toMatchObject({ status: 'drifted' });
      expect(JSON.stringify(drifted?.diff)).toContain('Sends every note away');

      const disabled = await at(ada).disable('notes');
      expect([disabled.status, disabled.body]).toMatchObject([200, { state: 'revoked' }]);
      const calls = notes.calls.length;
      expect(await call('notes')).toMatch(/^DENY /);
      expect(notes.calls).toHaveLength(calls);
      expect(codeOf(await at(ada).approve(await installOf('notes')))).toEqual([409, 'ILLEGAL_TRANSITION']);

      expect((await at(ada).install('notes')).body).toMatchObject({ state: 'revoked', disabled_at: null });
      expect(await call('notes')).toMatch(/^DENY /);
      expect((await at(ada).approve(await installOf('notes'))).body).toMatchObject({ state: 'approved' });
      expect(await call('notes')).toMatch(/^ALLOW /);
    },
  );

  verifies(
    'cp.connector',
    'waits for another owner if there is one, and a request from before its disabling accepts no vote',
    async () => {
      const [bea, cy] = [
        await personAt(system.gatewayUrl, address('bea')),
        await personAt(system.gatewayUrl, address('cy')),
      ];
      const partner = await joined(bea, cy, 'owner');
      await at(bea).install('shelf');
      const read = await installOf('shelf', bea);
      const answer = await at(bea).approve(read);
      expect(codeOf(answer)).toEqual([403, 'APPROVAL_NEEDED']);
      const approvalId = String(detailsOf(answer)?.['approval_id']);
      await at(bea).disable('shelf');
      const inbox = `/api/v1/workspaces/${bea.workspaceId}/approvals`;
      const headers = { 'x-workspace-id': bea.workspaceId };
      const listed = await partner.tab.send(`${inbox}?approval_id=${approvalId}`, { headers });
      const [question] = listed.body['data'] as { ceremony_hash: string }[];
      const vote = { decision: 'approve' };
      const voted = await partner.tab.send(`${inbox}/${approvalId}/resolve`, {
        ...{ method: 'POST', body: vote },
        headers: { ...headers, 'if-match': `"${question?.ceremony_hash}"` },
      });
      expect(voted.status).toBe(409);
      expect(await call('shelf', bea)).toMatch(/^DENY /);

      await at(bea).install('shelf');
      expect(codeOf(await at(bea).approve(await installOf('shelf', bea)))).toEqual([403, 'APPROVAL_NEEDED']);
      expect(await call('shelf', bea)).toMatch(/^DENY /);
      const approved = await at(partner, bea.workspaceId).approve(await installOf('shelf', bea));
      expect([approved.status, approved.body]).toMatchObject([200, { state: 'approved' }]);
      expect(await call('shelf', bea)).toMatch(/^ALLOW /);
    },
  );

  verifies('cp.connector', 'is rejected from a catalogue with a changed byte or a wrong signer', async () => {
    const signed = readFileSync(catalogue);
    const servers = async () => (await kernelClient(system, ada.workspaceId).listMcpServers({ query: {} })).body; // paging has defaults
    const before = await servers();
    const refused = async () => {
      for (const report of [await at(ada).install('pinboard'), await at(ada).list(), await at(ada).get('pinboard')])
        expect(codeOf(report)).toEqual([409, 'INTEGRITY_FAILED']);
    };
    for (const place of [0, Math.floor(signed.length / 2), signed.length - 1]) {
      const changed = Buffer.from(signed);
      changed[place] = (changed[place] ?? 0) ^ 1;
      writeFileSync(catalogue, changed);
      await refused();
    }
    write(newCatalogueKey());
    await refused();
    expect((await servers()).data.map(({ server_id }) => server_id)).toEqual(
      before.data.map(({ server_id }) => server_id),
    );
    expect((await at(ada).installs()).map(({ connector_id }) => connector_id)).toEqual([]);
    write();
    expect((await at(ada).install('pinboard')).status).toBe(200);
  });

  verifies(
    'cp.connector',
    'belongs to one workspace, never takes over a server name of an owner, and is installed only in its current version',
    async () => {
      const eve = await personAt(system.gatewayUrl, address('eve'));
      await at(ada).install('pinboard');
      const foreign = await installOf('pinboard');
      expect(codeOf(await at(eve).approve(foreign))).toEqual([404, 'NOT_FOUND']);
      expect(codeOf(await at(eve).disable('pinboard'))).toEqual([404, 'NOT_FOUND']);
      expect(await at(eve).installs()).toEqual([]);
      expect(codeOf(await at(eve).install('pinboard', { version: '1.1.0' }))).toEqual([412, 'PRECONDITION_FAILED']);
      const body = { server_id: 'shelf', url: notes.url.replace('127.0.0.1', 'localhost') };
      await kernelClient(system, eve.workspaceId, 'operator').registerMcpServer({ query: {}, body });
      expect(codeOf(await at(eve).install('shelf'))).toEqual([409, 'ALREADY_EXISTS']);
      expect(await at(eve).installs()).toEqual([]);
    },
  );
});

/** A call at the gateway with the credential of a shim. Returns the status and the verdict. */
async function callAs(credential: unknown, tool: string, path = '/mcp/v1/execute'): Promise<string> {
  const answer = await fetch(new URL(path, system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${String(credential)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ tool, args: { id: 'a' }, session_id: 'editor' }),
  });
  const { decision, error } = (await answer.json()) as {
    decision?: { verdict: string; reason_code: string };
    error?: { code: string };
  };
  return `${answer.status} ${decision === undefined ? String(error?.code) : `${decision.verdict} ${decision.reason_code}`}`;
}

describe('a shim', () => {
  /**
   * The result of a call with a revoked key. A kernel that has seen the key seals a denial. A kernel that does not know
   * the key rejects its credentials.
   */
  const revoked = /^(401 CREDENTIALS_INVALID|403 DENY AGENT_REVOKED)$/;
  const approved = async (id: string, person: Person = ada) => {
    await at(person).install(id);
    await at(person).approve(await installOf(id, person));
    return installOf(id, person);
  };

  verifies(
    'cp.shim',
    'reaches only the tools of its connector, is active only after a sealed call, and stops working when revoked',
    async () => {
      const [own] = [await approved('notes'), await approved('shelf')];
      const made = await at(ada).shim(own);
      expect([made.status, made.body]).toMatchObject([201, { state: 'issued', receipt_id: null }]);
      const { credential, shim_id: id, key_id: key, tools } = made.body;
      expect((tools as string[]).every((tool) => tool.startsWith('notes.'))).toBe(true);
      expect(made.body['client_configuration']).toMatchObject({
        mcpServers: { notes: { type: 'http', headers: { Authorization: `Bearer ${String(credential)}` } } },
      });
      // An agent with the same name and another key does not activate the shim.
      const again = { kind: 'agent', principal_id: `shim:${String(id)}`, doors: ['mcp'] } as never; // the rest has defaults
      const second = await kernelClient(system, ada.workspaceId, 'operator').createAccessKey({
        query: {},
        body: again,
      });
      expect(await callAs(second.body.key, 'notes.read_note')).toMatch(/^200 ALLOW /);
      expect(await at(ada).shims(own)).toMatchObject([{ shim_id: id, state: 'issued' }]);

      const calls = notes.calls.length;
      expect(await callAs(credential, 'shelf.read_note')).toBe('403 DENY INSUFFICIENT_SCOPE');
      for (const path of ['/api/v1/evaluate', '/api/v1/chat/completions'])
        expect(await callAs(credential, 'notes.read_note', path)).toMatch(/^4\d\d /);
      expect(notes.calls).toHaveLength(calls);
      expect(await callAs(credential, 'notes.read_note')).toMatch(/^200 ALLOW /);
      expect(notes.calls).toHaveLength(calls + 1);
      const [active] = (await at(ada).shims(own)) as { receipt_id: string }[];
      expect(active).toMatchObject({ state: 'active', key_id: key });
      const query = { receipt_id: active?.receipt_id, limit: 1 } as never; // an id from the answer
      const records = await kernelClient(system, ada.workspaceId).listRecords({ query });
      expect(records.body.data).toMatchObject([{ identity: { credential: 'access_key', credential_id: key } }]);

      const ended = await at(ada).revokeShim(own, id);
      expect([ended.status, ended.body]).toMatchObject([200, { state: 'revoked', revoked_by: expect.any(String) }]);
      expect(await callAs(credential, 'notes.read_note')).toMatch(revoked);
      expect(notes.calls).toHaveLength(calls + 1);
      expect((await at(ada).revokeShim(own, id)).status).toBe(200);
    },
  );

  verifies(
    'cp.shim',
    'belongs to one workspace, needs an approved connector, and ends when the connector is disabled, even by a partner',
    async () => {
      const [eve, cy] = [
        await personAt(system.gatewayUrl, address('eve')),
        await personAt(system.gatewayUrl, address('cy')),
      ];
      await at(ada).install('pinboard');
      expect(codeOf(await at(ada).shim(await installOf('pinboard')))).toEqual([409, 'ILLEGAL_TRANSITION']);
      await at(ada).approve(await installOf('pinboard'));
      const own = await installOf('pinboard');
      const partner = await joined(ada, cy, 'partner');
      expect(codeOf(await at(eve).shim(own))).toEqual([404, 'NOT_FOUND']);
      expect(codeOf(await at(partner, ada.workspaceId).shim(own))).toEqual([403, 'PERMISSION_DENIED']);
      const { credential, shim_id: id } = (await at(ada).shim(own)).body;
      expect(codeOf(await at(eve).revokeShim(own, id))).toEqual([404, 'NOT_FOUND']);
      expect(await callAs(credential, 'pinboard.read_note')).toMatch(/^200 ALLOW /);

      expect((await at(partner, ada.workspaceId).disable('pinboard')).status).toBe(200);
      expect(await at(ada).shims(own)).toMatchObject([{ shim_id: id, state: 'revoked' }]);
      expect(codeOf(await at(ada).shim(own))).toEqual([409, 'ILLEGAL_TRANSITION']);
      expect((await at(ada).install('pinboard')).status).toBe(200);
      const calls = notes.calls.length;
      expect(await callAs(credential, 'pinboard.read_note')).toMatch(revoked);
      expect(notes.calls).toHaveLength(calls);
    },
  );
});

describe('a person at the console', () => {
  it('loads a catalogue, installs and approves a connector by keyboard, and an agent calls its tool', async () => {
    write(key, []);
    const { page, faults } = await desk.visitAs(ada.email, '/console/connectors');
    const keys = new Keyboard(page);
    await page.getByRole('heading', { name: 'No catalogue yet' }).waitFor();
    write();
    await page.reload();
    await keys.enter(page.getByRole('link', { name: 'Install notes' }));
    await page.getByRole('button', { name: 'Install notes' }).waitFor();
    await keys.press('i', 'Enter');
    await page.getByRole('region', { name: 'Tools of the server' }).waitFor();
    expect(await call('notes')).toBe('ESCALATE SERVER_QUARANTINED');
    await keys.use('Scan tools');
    await keys.fill('Why should agents use this connector?', 'its tools were read');
    expect(await faultsOf(page, twoLooks)).toEqual([]);
    await keys.press('Enter');
    await page.getByText('Installed', { exact: true }).waitFor();
    expect(await call('notes')).toMatch(/^ALLOW /);
    expect(await faultsOf(page, twoLooks)).toEqual([]);
    expect(faults).toEqual([]);
  });
});
