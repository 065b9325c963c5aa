import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { forgetApiKeys } from '../src/store/api-keys.ts';
import type { Tx } from '../src/store/database.ts';
import { recordEvidence } from '../src/store/evidence.ts';
import { actOnce, forgetAnswers } from '../src/store/idempotency.ts';
import { forgetInvites } from '../src/store/invites.ts';
import { forgetInitData, spendInitData } from '../src/store/messenger-sign-ins.ts';
import { forgetReports } from '../src/store/reports.ts';
import { forgetSessions } from '../src/store/sessions.ts';
import { evidenceHash } from './_run-records.ts';
import { away, home, instantAt, minute, openTestStore, type TestStore } from './_store-rows.ts';

let store: TestStore;
beforeAll(async () => {
  store = await openTestStore();
});
beforeEach(() => store.clear());
afterAll(() => store?.close());

const transaction = <T>(work: Parameters<typeof store.database.transaction<T>>[0]) => store.database.transaction(work);
const expires = (nth: number) => ({ expires_at: instantAt(nth) });
const day = 24 * 60;
const forgotten: [string, Parameters<TestStore['insert']>[0], (tx: Tx) => Promise<unknown>, (nth: number) => object][] =
  [
    [
      'invites',
      'invites',
      (tx) => forgetInvites(tx, minute(5)),
      (nth) => ({ email: 'a', token_hash: nth, ...expires(nth) }),
    ],
    ['keys', 'api_keys', (tx) => forgetApiKeys(tx, minute(5)), (nth) => ({ key_hash: nth, ...expires(nth) })],
    [
      'sign-ins',
      'sessions',
      (tx) => forgetSessions(tx, minute(5)),
      (nth) => ({ family_id: nth, token_hash: nth, ...expires(nth) }),
    ],
    [
      'sign-ins by messenger',
      'messenger_sign_ins',
      (tx) => forgetInitData(tx, minute(5)),
      (nth) => ({ hash: nth, ...expires(nth) }),
    ],
    [
      'reports',
      'call_reports',
      (tx) => forgetReports(tx, minute(5)),
      (nth) => ({ report: {}, created_at: instantAt(nth) }),
    ],
    [
      'answers',
      'idempotency_keys',
      (tx) => forgetAnswers(tx, minute(5 + day)),
      (nth) => ({ key: nth, created_at: instantAt(nth) }),
    ],
  ];

describe('cleanup', () => {
  it.each(forgotten)('removes only expired rows of %s', async (_what, table, forget, columns) => {
    const isKnownById = !['messenger_sign_ins', 'idempotency_keys'].includes(table);
    const rows = [4, 5, 6].map((nth) => ({ ...columns(nth), ...(isKnownById && { id: String(nth) }) }));
    await store.insert(table, ...rows);
    await transaction(forget);
    const time = rows[0] !== undefined && 'expires_at' in rows[0] ? 'expires_at' : 'created_at';
    const remaining = await store.rows(`SELECT ${time} AS at FROM ${table} ORDER BY ${time}`);
    expect(remaining).toEqual([{ at: minute(5) }, { at: minute(6) }]);
  });

  it('removes whole families of sign-ins', async () => {
    const of = (family_id: string, nth: number) => ({
      id: `${family_id}${nth}`,
      family_id,
      token_hash: `${family_id}${nth}`,
    });
    await store.insert('sessions', { ...of('a', 1), ...expires(1) }, { ...of('a', 2), ...expires(5) });
    await store.insert('sessions', { ...of('b', 1), ...expires(1) }, { ...of('b', 2), ...expires(2) });
    await transaction((tx) => forgetSessions(tx, minute(5)));
    expect(await store.rows('SELECT id FROM sessions ORDER BY id')).toEqual([{ id: 'a1' }, { id: 'a2' }]);
  });
});

describe('an answer', () => {
  const claim = { scope: 'scope', key: 'key', fingerprint: 'print', now: minute(day) };
  const act = (more: Partial<typeof claim> = {}, answer = 'new') =>
    transaction((tx) => actOnce(tx, { ...claim, ...more }, () => Promise.resolve(answer)));
  const [fresh, replayed] = [
    { answer: 'new', replayed: false },
    { answer: 'old', replayed: true },
  ];

  it('is stored for a day, and returned for the same request of the same caller', async () => {
    await store.insert('idempotency_keys', { key: 'key', answer: 'old' }, { key: 'other', answer: 'old' });
    expect(await act()).toEqual(replayed);
    expect(await act({ scope: 'another' })).toEqual(fresh);
    await expect(act({ fingerprint: 'another' })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await act({ now: minute(day + 1) })).toEqual(fresh);
    expect(await act({ now: minute(day + 1) }, 'never')).toEqual({ answer: 'new', replayed: true });
    expect(await store.rows('SELECT scope, key, answer, created_at FROM idempotency_keys ORDER BY scope, key')).toEqual(
      [
        { scope: 'another', key: 'key', answer: 'new', created_at: minute(day) },
        { scope: 'scope', key: 'key', answer: 'new', created_at: minute(day + 1) },
        { scope: 'scope', key: 'other', answer: 'old', created_at: minute(0) },
      ],
    );
  });

  it('that is missing although its key exists is reported as in flight', async () => {
    await store.insert('idempotency_keys', { key: 'key' });
    await expect(act()).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_FLIGHT' });
  });
});

it('init data of a messenger is used once', async () => {
  const spend = (hash: string) => transaction((tx) => spendInitData(tx, { hash, expiresAt: minute(5) }));
  expect([await spend('a'), await spend('a'), await spend('b')]).toEqual([true, false, true]);
});

it('evidence stores a hash of its content, and its place', async () => {
  const content = { b: 1, a: 'x' };
  const kind = 'task_created';
  const place = { workspaceId: home, taskId: 't', runId: 'r', stepId: 's' };
  await transaction(async (tx) => {
    await recordEvidence(tx, { ...place, kind, content, metadata: { size: 1 } }, minute(1));
    await recordEvidence(tx, { workspaceId: away, kind, content: null, metadata: {} }, minute(2));
  });
  const rows = await store.rows('SELECT * FROM evidence_items ORDER BY created_at');
  const id = expect.stringMatching(/^evd_/);
  expect(rows).toEqual([
    {
      ...{ id, workspace_id: home, task_id: 't', run_id: 'r', step_id: 's', kind, metadata: { size: 1 } },
      ...{ content_hash: evidenceHash(content), created_at: minute(1) },
    },
    {
      ...{ id, workspace_id: away, task_id: null, run_id: null, step_id: null, kind, metadata: {} },
      ...{ content_hash: evidenceHash(null), created_at: minute(2) },
    },
  ]);
});
