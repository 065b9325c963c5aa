import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuditEntry } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import { findChainFault, type ChainFault } from '../src/audit/audit-chain.ts';
import type { StartedGateway } from '../src/index.ts';
import {
  rowsOf,
  runReaching,
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
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url }));
  person = await signInAs(gateway.url, 'ada@example.org');
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

async function faultInLog(): Promise<ChainFault | null> {
  const entries = (await wholeLog()).map((entry) => ({ ...entry, details: entry.details }));
  const [head] = await rowsOf<{ seq: number; hash: string }>(
    database,
    'SELECT seq, hash FROM audit_heads WHERE workspace_id = $1',
    [person.workspace.id],
  );
  return findChainFault(entries, head ?? null);
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
        body: { policyConfig: { maxIterationBudget: 5, blockedTools: [] } },
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

  verifies('gw.audit', 'shows an edited, a removed and a cut-off row, and the service cannot make one', async () => {
    for (let count = 0; count < 12; count += 1)
      await person.client.createTask({ body: { title: `Task ${count}`, description: '' } });
    const workspace = [person.workspace.id];
    expect(await faultInLog()).toBeNull();
    await rowsOf(database, `UPDATE audit_entries SET actor = 'mallory' WHERE workspace_id = $1 AND seq = 3`, workspace);
    expect(await faultInLog()).toEqual({ seq: 3, fault: 'hash' });
    await rowsOf(database, `UPDATE audit_entries SET actor = $2 WHERE workspace_id = $1 AND seq = 3`, [
      ...workspace,
      person.user.id,
    ]);
    await rowsOf(
      database,
      `DELETE FROM audit_entries WHERE workspace_id = $1 AND seq = (SELECT max(seq) FROM audit_entries)`,
      workspace,
    );
    expect(await faultInLog()).toMatchObject({ fault: 'head' });
    await rowsOf(database, `DELETE FROM audit_entries WHERE workspace_id = $1 AND seq = 4`, workspace);
    expect(await faultInLog()).toEqual({ seq: 5, fault: 'gap' });

    const service = new pg.Client({ connectionString: database.url, options: '-c search_path=gateway' });
    await service.connect();
    for (const table of ['audit_entries', 'evidence_items', 'receipts', 'violations']) {
      await expect(service.query(`DELETE FROM ${table}`)).rejects.toThrow('permission denied');
      await expect(service.query(`UPDATE ${table} SET workspace_id = ''`)).rejects.toThrow('permission denied');
    }
    await service.end();
  });

  it('keeps one unbroken chain when writers come in parallel', async () => {
    const other = await signInAs(gateway.url, 'bob@example.org');
    await Promise.all(
      Array.from({ length: 40 }, (_, count) =>
        other.client.createTask({ body: { title: `Task ${count}`, description: '' } }),
      ),
    );
    person = other;
    expect(await wholeLog()).toHaveLength(42);
    expect(await faultInLog()).toBeNull();
  });
});
