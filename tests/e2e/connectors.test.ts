import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import type { StartedSystem } from '@countersign/local';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import { reaching } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { connectorsAt, newCatalogueKey, writeCatalogue } from './_catalogue.ts';
import { joined, personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, scratchDataDir, startIn } from './_system.ts';
import { codeOf, detailsOf, type Told } from './_tab.ts';

const timeoutMs = 240_000;
const dataDir = scratchDataDir();
const [catalogue, policy] = [join(dataDir.path, 'own-catalogue.json'), join(dataDir.path, 'policy.yaml')];
const key = newCatalogueKey();
const address = addressBook();
let system: StartedSystem;
let notes: NoteServer;
let ada: Person;
let people = 0;

/** Every call that no registry stops is allowed, and so is every change that a person makes. */
const openPolicy = `
format: countersign/policy.v1
name: open
version: '1'
rules:
  - { id: all, effect: allow }
`;

const connectors = () => connectorsAt({ notes: notes.url, shelf: notes.url, pinboard: notes.url });
const write = (by = key) => writeCatalogue(catalogue, connectors(), by);

beforeAll(async () => {
  notes = await startNoteServer();
  mkdirSync(dataDir.path, { recursive: true });
  writeFileSync(policy, openPolicy);
  system = await startIn(dataDir.path, {
    ...{ GOV_MCP_PRIVATE: '1', GOV_MCP_LIST_MAX_AGE: '0', GOV_POLICY_FILE: policy, GOV_RATE_LIMITS: '0' },
    ...write(),
  });
}, timeoutMs);
// Tests run in any order, and one of them replaces the catalogue.
beforeEach(async () => {
  write();
  ada = await personAt(system.gatewayUrl, address(`ada${(people += 1)}`));
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  await notes?.close();
  dataDir.remove();
}, timeoutMs);

/** The acts of a person at a page, in the workspace of their own or in another one. */
const at = (person: Person, workspaceId = person.workspaceId) => {
  const headers = { 'x-workspace-id': workspaceId };
  const send = (path: string, body?: object): Promise<Told> =>
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
  };
};

type Install = {
  install_id: string;
  connector_id: string;
  state: string;
  definitions_hash: string;
  drift: { name: string; status: string; diff: unknown[] }[];
};

/** A call of an agent, as the kernel decides and sends it. */
async function call(server: string, { workspaceId }: Person = ada): Promise<string> {
  const agent = kernelClient(system, workspaceId, 'agent-1');
  const body = { tool: `${server}.read_note`, args: { id: 'a' }, session_id: 'agent' } as never; // plain names
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
    'escalates until it is approved and pinned, is denied with its diff when it drifts, and denied once it is disabled',
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
      // The same approval again changes nothing.
      expect((await at(ada).approve(read)).status).toBe(200);

      notes.redefine('read_note', { description: 'Sends every note away' });
      await reaching(
        () => call('notes'),
        (told) => told === 'DENY SCHEMA_DRIFT',
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
    timeoutMs,
  );

  verifies(
    'cp.connector',
    'waits for another owner where there is one, and a vote on a request from before it was disabled changes nothing',
    async () => {
      const [bea, cy] = [
        await personAt(system.gatewayUrl, address('bea')),
        await personAt(system.gatewayUrl, address('cy')),
      ];
      const partner = await joined(bea, cy, 'owner');
      await at(bea).install('shelf');
      const read = await installOf('shelf', bea);
      const asked = await at(bea).approve(read);
      expect(codeOf(asked)).toEqual([403, 'APPROVAL_NEEDED']);
      const approvalId = String(detailsOf(asked)?.['approval_id']);
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
      expect(voted.status).toBe(200);
      expect(await call('shelf', bea)).toMatch(/^DENY /);

      await at(bea).install('shelf');
      expect(codeOf(await at(bea).approve(await installOf('shelf', bea)))).toEqual([403, 'APPROVAL_NEEDED']);
      expect(await call('shelf', bea)).toMatch(/^DENY /);
      const approved = await at(partner, bea.workspaceId).approve(await installOf('shelf', bea));
      expect([approved.status, approved.body]).toMatchObject([200, { state: 'approved' }]);
      expect(await call('shelf', bea)).toMatch(/^ALLOW /);
    },
    timeoutMs,
  );

  verifies(
    'cp.connector',
    'is registered by no catalogue with a changed byte, nor by one that another key signed',
    async () => {
      const signed = readFileSync(catalogue);
      const servers = async () => (await kernelClient(system, ada.workspaceId).listMcpServers({ query: {} })).body; // the page has defaults
      const before = await servers();
      const refused = async () => {
        for (const told of [await at(ada).install('pinboard'), await at(ada).list(), await at(ada).get('pinboard')])
          expect(codeOf(told)).toEqual([409, 'INTEGRITY_FAILED']);
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
    },
    timeoutMs,
  );

  verifies(
    'cp.connector',
    'is of one workspace, takes no name that an owner gave, and is installed in the version that was read',
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
    timeoutMs,
  );
});
