import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import type { AuditEntry } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { AuditVerification, type AuditReport } from '@countersign/verifier';
import pg from 'pg';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  rowsOf,
  runReaching,
  serviceKey,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const urls = { GOV_GOVERNANCE_URL: kernel.url, GOV_COMMERCIAL_URL: 'http://127.0.0.1:9' };
  gateway = await startTestGateway(testConfig(database, urls));
});

beforeEach(async () => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

async function wholeLog(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const { body } = await person.client.listAudit({ query: { limit: 7, ...(cursor === null ? {} : { cursor }) } });
    entries.unshift(...body.data.toReversed());
    cursor = body.nextCursor;
  } while (cursor !== null);
  return entries;
}

/** Returns the exported audit log as text. */
async function exportedLog(): Promise<string> {
  const response = await fetch(new URL('/api/audit/export', gateway.url), { headers: person.headers });
  expect(response.headers.get('content-type')).toBe('application/x-ndjson');
  return response.text();
}

function reportOn(text: string, options: { heads?: string[]; workspace?: string } = {}): AuditReport {
  const verification = new AuditVerification({ provider: nodeProvider, ...options });
  for (const line of text.split('\n').slice(0, -1)) if (!verification.take(line)) break;
  return verification.report();
}

async function faultInLog(): Promise<string | null> {
  const { verdict, fault, entries } = reportOn(await exportedLog(), { workspace: person.workspace.id });
  expect(verdict).toBe(fault === null ? 'VERIFIED' : 'NOT_VERIFIED');
  return fault === null ? null : `${fault.code} after ${entries}`;
}

describe('the audit log', () => {
  verifies(
    'gw.audit',
    'holds every mutation and every denial in one chain, in the order in which they committed',
    async () => {
      const params = { id: person.workspace.id };
      await person.client.putWorkspaceMode({ params, body: { mode: 'build' } });
      await person.client.putWorkspaceSettings({
        params,
        body: { policyConfig: { maxIterationBudget: 5, blockedTools: [], deniedCall: 'end' } },
      });
      kernel.verdictOf = () => 'DENY';
      kernel.say = () => ({ calls: [{ name: 'files__write', args: {} }] });
      await runReaching(person, (await startRun(person)).taskId);
      const { body: idle } = await person.client.createTask({ body: { title: 'Idle', description: '' } });
      await person.client.putTaskStatus({ params: { id: idle.id }, body: { status: 'cancelled' } });
      const log = await wholeLog();
      expect(log.map(({ action, verdict }) => `${action} ${verdict}`)).toEqual([
        'workspace.created allow',
        'session.opened allow',
        'workspace.mode_changed allow',
        'workspace.settings_replaced allow',
        'task.created allow',
        'run.enqueued allow',
        'run.running allow',
        'step.model_call allow',
        'step.tool_call deny',
        'run.denied deny',
        'task.created allow',
        'task.cancelled allow',
      ]);
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      expect(await faultInLog()).toBeNull();
      const denials = await person.client.listAudit({
        query: { verdict: 'deny', actor: `agent:${person.workspace.id}` },
      });
      expect(denials.body.data.map(({ action }) => action)).toEqual(['run.denied', 'step.tool_call']);
    },
  );

  verifies(
    'gw.audit',
    'detects an edited, a removed and a cut-off row, and the service has no right to change rows',
    async () => {
      for (let count = 0; count < 12; count += 1)
        await person.client.createTask({ body: { title: `Task ${count}`, description: '' } });
      const workspace = [person.workspace.id];
      expect(await faultInLog()).toBeNull();
      await rowsOf(
        database,
        `UPDATE audit_entries SET actor = 'mallory' WHERE workspace_id = $1 AND seq = 3`,
        workspace,
      );
      expect(await faultInLog()).toBe('HASH_MISMATCH after 2');
      await rowsOf(database, `UPDATE audit_entries SET actor = $2 WHERE workspace_id = $1 AND seq = 3`, [
        ...workspace,
        person.user.id,
      ]);
      await rowsOf(
        database,
        `DELETE FROM audit_entries WHERE workspace_id = $1 AND seq = (SELECT max(seq) FROM audit_entries WHERE workspace_id = $1)`,
        workspace,
      );
      expect(await faultInLog()).toMatch('HEAD_MISMATCH');
      await rowsOf(database, `DELETE FROM audit_entries WHERE workspace_id = $1 AND seq = 4`, workspace);
      expect(await faultInLog()).toBe('CHAIN_GAP after 3');

      const service = new pg.Client({ connectionString: database.url, options: '-c search_path=gateway' });
      await service.connect();
      for (const table of [
        'audit_entries',
        'evidence_items',
        'receipts',
        'refused_receipts',
        'receipt_faults',
        'violations',
      ]) {
        await expect(service.query(`DELETE FROM ${table}`)).rejects.toThrow('permission denied');
        await expect(service.query(`UPDATE ${table} SET workspace_id = ''`)).rejects.toThrow('permission denied');
      }
      await service.end();
    },
  );

  verifies(
    'gw.audit',
    'fails offline verification when it is cut, spliced, reordered, rewritten or of another workspace',
    async () => {
      const eve = await signInAs(gateway.url, 'eve@example.org');
      person = await signInAs(gateway.url, 'dora@example.org');
      for (let count = 0; count < 3; count += 1)
        await person.client.createTask({ body: { title: `Task ${count}`, description: '' } });
      const text = await exportedLog();
      const lines = text.split('\n').slice(0, -1);
      const [header = '', ...entries] = lines.slice(0, -1);
      const end = lines.at(-1) ?? '';
      const of = (...kept: string[]) => reportOn(kept.map((line) => `${line}\n`).join(''));
      expect(reportOn(text)).toMatchObject({ verdict: 'VERIFIED', entries: entries.length, fault: null, missing: [] });
      expect(of(header, ...entries)).toMatchObject({ verdict: 'INCOMPLETE', missing: ['the end of the log'] });
      expect(of(header, ...entries.slice(0, -1), end)).toMatchObject({ fault: { code: 'HEAD_MISMATCH' } });
      expect(of(header, ...entries.toSpliced(1, 1), end)).toMatchObject({ fault: { code: 'CHAIN_GAP' } });
      expect(of(header, ...entries.toReversed(), end)).toMatchObject({ fault: { code: 'CHAIN_GAP' } });
      expect(of(header, ...entries, end, end)).toMatchObject({ fault: { code: 'MALFORMED' } });
      expect(of(...entries, end)).toMatchObject({ fault: { code: 'MALFORMED', line: 1 } });
      expect(of()).toMatchObject({ verdict: 'NOT_VERIFIED', workspace: null, fault: { code: 'EMPTY' } });
      const theirs = header.replace(person.workspace.id, eve.workspace.id);
      expect(of(theirs, ...entries, end)).toMatchObject({ fault: { code: 'SUBJECT_MISMATCH' } });
      expect(reportOn(text, { workspace: eve.workspace.id })).toMatchObject({ fault: { code: 'SUBJECT_MISMATCH' } });
      const edited = entries.map((line) => line.replace('"seq":3', '"seq":3,"more":1'));
      expect(of(header, ...edited, end)).toMatchObject({ fault: { code: 'MALFORMED' } });

      const noted = reportOn(text).head ?? '';
      expect(reportOn(text, { heads: [noted] }).verdict).toBe('VERIFIED');
      const empty = JSON.stringify({ end: { seq: 0, hash: null } });
      const rewritten = reportOn(`${header}\n${empty}\n`, { heads: [noted] });
      expect(rewritten).toMatchObject({ verdict: 'NOT_VERIFIED', missing: [`the entry ${noted}`] });
    },
  );

  it('is read by siblings in pages with its end, and by no other caller', async () => {
    for (let count = 0; count < 4; count += 1)
      await person.client.createTask({ body: { title: `Task ${count}`, description: '' } });
    const sibling = clientOf(gateway.url, { authorization: `Bearer ${serviceKey}` });
    const params = { workspace_id: person.workspace.id };
    const log = await wholeLog();
    const page = (from: number) => sibling.readAuditChain({ params, query: { from, limit: 3 } });
    const pages = [(await page(1)).body, (await page(4)).body];
    expect(pages.flatMap(({ data }) => data).slice(0, log.length)).toEqual(log.slice(0, 6));
    expect(pages.map(({ end }) => end)).toEqual(Array(2).fill({ seq: log.length, hash: log.at(-1)?.hash }));
    const unknown = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
    const ofNone = sibling.readAuditChain({ params: { workspace_id: unknown }, query: {} });
    await expect(ofNone).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const ofPerson = person.client.readAuditChain({ params, query: {} });
    await expect(ofPerson).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  });

  it('keeps one unbroken chain with concurrent writers', async () => {
    const second = await signInAs(gateway.url, 'bob@example.org');
    await Promise.all(
      Array.from({ length: 40 }, (_, count) =>
        second.client.createTask({ body: { title: `Task ${count}`, description: '' } }),
      ),
    );
    person = second;
    expect(await wholeLog()).toHaveLength(42);
    expect(await faultInLog()).toBeNull();
  });
});
