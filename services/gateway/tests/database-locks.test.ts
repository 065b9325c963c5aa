import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UserId } from '@countersign/contracts';
import { holdsSettings } from '../src/store/confirmed-settings.ts';
import type { Tx } from '../src/store/database.ts';
import { lockAddress } from '../src/store/email-codes.ts';
import { lockLeasedRun, lockRunningRun } from '../src/store/leases.ts';
import { lockMembers, nextMemberList } from '../src/store/members.ts';
import { markRotated, revokeFamily } from '../src/store/sessions.ts';
import { holdTask, lockTask } from '../src/store/tasks.ts';
import { lockUser } from '../src/store/users.ts';
import { lockSettings } from '../src/store/workspaces.ts';
import { ada, away, home, idOf, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
const [taskId, runId, familyId] = [idOf('tsk', 1), idOf('run', 1), idOf('ses', 1)];

beforeAll(async () => {
  store = await openTestStore();
  const revoked_at = instantAt(1);
  await store.insert('workspaces', { id: home }, { id: away });
  await store.insert('users', { id: ada, email: 'a@example.org' }, { id: idOf('usr', 2), email: 'b@example.org' });
  await store.insert('tasks', { id: taskId }, { id: idOf('tsk', 2) });
  await store.insert('runs', { id: runId }, { id: idOf('run', 2), task_id: idOf('tsk', 2) });
  await store.insert('sessions', { id: familyId, family_id: familyId, token_hash: '1', revoked_at });
  await store.insert('sessions', { id: idOf('ses', 2), family_id: familyId, token_hash: '2', revoked_at });
});
afterAll(() => store?.close());

const lease = { runId, taskId, workspaceId: home, owner: 'worker', fence: 0, startedBy: 'usr_1' };
const locks: [string, string, string, (tx: Tx) => Promise<unknown>][] = [
  ['a task that is locked', 'tasks', 'tsk', (tx) => lockTask(tx, home, taskId)],
  ['a task with a hold', 'tasks', 'tsk', (tx) => holdTask(tx, home, taskId)],
  ['a person', 'users', 'usr', (tx) => lockUser(tx, UserId.parse(ada))],
  ['the members', 'workspaces', 'wsp', (tx) => lockMembers(tx, home)],
  ['the next list of members', 'workspaces', 'wsp', (tx) => nextMemberList(tx, home, minute(1))],
  ['the settings', 'workspaces', 'wsp', (tx) => lockSettings(tx, home)],
  [
    'the settings at the start of a step',
    'workspaces',
    'wsp',
    (tx) => holdsSettings(tx, { workspaceId: home, version: 1 }),
  ],
  ['a run under its lease', 'runs', 'run', (tx) => lockLeasedRun(tx, lease)],
  ['a running run under its lease', 'runs', 'run', (tx) => lockRunningRun(tx, lease)],
  ['a family that is rotated', 'sessions', 'ses', (tx) => markRotated(tx, { id: 'none', familyId }, minute(1))],
  [
    'a family that is revoked',
    'sessions',
    'ses',
    (tx) => revokeFamily(tx, familyId, { now: minute(1), reason: 'end' }),
  ],
];

describe('a transaction', () => {
  it.each(locks)('locks %s against other transactions until it ends', async (_what, table, prefix, lock) => {
    const free = async () => {
      const rows = await store.rows(`SELECT id FROM ${table} ORDER BY id FOR UPDATE SKIP LOCKED`);
      return rows.map(({ id }) => id);
    };
    const [first, second] = [idOf(prefix, 1), idOf(prefix, 2)];
    await store.database.transaction(async (tx) => {
      await lock(tx);
      expect(await free()).toEqual([second]);
    });
    expect(await free()).toEqual([first, second]);
  });

  it('locks the codes of a known or unknown address until it ends', async () => {
    const isFree = async (email: string) =>
      (
        await store.rows(`SELECT pg_try_advisory_xact_lock(hashtextextended('email-code:' || $1, 0)) AS free`, [email])
      )[0];
    await store.database.transaction(async (tx) => {
      await lockAddress(tx, 'new@example.org');
      expect(await isFree('new@example.org')).toEqual({ free: false });
      expect(await isFree('other@example.org')).toEqual({ free: true });
    });
    expect(await isFree('new@example.org')).toEqual({ free: true });
  });

  it('that begins a step lets other steps begin under the same version of the settings', async () => {
    await store.database.transaction(async (tx) => {
      await holdsSettings(tx, { workspaceId: home, version: 1 });
      const shared = await store.rows('SELECT id FROM workspaces ORDER BY id FOR SHARE SKIP LOCKED');
      expect(shared).toEqual([{ id: home }, { id: away }]);
    });
  });
});
