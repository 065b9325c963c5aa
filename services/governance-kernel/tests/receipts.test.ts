import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Instant } from '@countersign/contracts';
import type { DecisionReply, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal, sealMany } from './_seal.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

type Query = Parameters<ReturnType<TestKernel['as']>['listReceipts']>[0];

async function allPages(tenant: string, query: NonNullable<Query>['query'], betweenPages?: () => Promise<unknown>) {
  const found: StoredReceipt[] = [];
  for (let cursor: string | undefined; ;) {
    const { body } = await test.as(tenant).listReceipts({ query: { ...query, ...(cursor ? { cursor } : {}) } });
    found.push(...body.data);
    if (body.next_cursor === null) return found;
    cursor = body.next_cursor;
    await betweenPages?.();
  }
}

const ids = (receipts: { payload: { receipt_id: string } }[]) => receipts.map(({ payload }) => payload.receipt_id);

describe('GET /api/v1/receipts', () => {
  verifies(
    'kn.receipts.list',
    'pages newest first, without loss, duplicates or rows of another tenant, during writes',
    async () => {
      const sealed = await sealMany(test, 30, { tenant: 'paging' });
      const expected = sealed
        .sort((left, right) => right.log_index - left.log_index)
        .map(({ receipt_id }) => receipt_id);
      const write = () =>
        Promise.all([sealMany(test, 3, { tenant: 'paging' }), sealMany(test, 3, { tenant: 'other' })]);
      const found = await allPages('paging', { limit: 7 }, write);
      expect(ids(found)).toEqual(expected);
      expect(new Set(found.map(({ payload }) => payload.tenant_id))).toEqual(new Set(['paging']));
    },
  );

  verifies('kn.receipts.list', 'returns exactly the receipts that match each filter', async () => {
    const tenant = 'filters';
    const session_id = newSession();
    await seal(test, { tenant, session_id, principal: 'ann' });
    await seal(test, { tenant, session_id, principal: 'bob', tool: 'files.delete' });
    await seal(test, { tenant, principal: 'ann', tool: 'pay.send', effect_level: 'E4' });
    await seal(test, { tenant, principal: 'bob', action: 'model.call' });
    const all = await allPages(tenant, {});
    const middle = all[1]?.payload.issued_at;
    const payloads = all.map(({ payload }) => payload);
    const cases: [NonNullable<Query>['query'], (payload: StoredReceipt['payload']) => boolean][] = [
      [{ session_id }, (payload) => payload.session_id === session_id],
      [
        { session_id, lamport_clock: 2 },
        ({ lamport_clock: place, ...payload }) => payload.session_id === session_id && place === 2,
      ],
      [{ agent: 'ann' }, (payload) => payload.principal_id === 'ann'],
      [{ verdict: 'DENY' }, (payload) => payload.verdict === 'DENY'],
      [{ reason_code: 'APPROVAL_REQUIRED' }, (payload) => payload.reason_code === 'APPROVAL_REQUIRED'],
      [{ tool: 'files.delete' }, (payload) => payload.tool === 'files.delete'],
      [{ action: 'model.call' }, (payload) => payload.action === 'model.call'],
      [{ kind: 'decision' }, () => true],
      [{ kind: 'outcome' }, () => false],
      [{ from: middle }, (payload) => middle !== undefined && payload.issued_at >= middle],
      [{ to: middle }, (payload) => middle !== undefined && payload.issued_at < middle],
      [{ verdict: 'DENY', session_id }, (payload) => payload.tool === 'files.delete'],
    ];
    expect(all).toHaveLength(4);
    for (const [query, matches] of cases) {
      const expected = payloads.filter(matches).map(({ receipt_id }) => receipt_id);
      expect([query, ids(await allPages(tenant, query))]).toEqual([query, expected]);
    }
  });

  it('pages by time without loss or duplicate when the clocks of two kernels differ', async () => {
    const sealed = await sealMany(test, 8, { tenant: 'skewed' });
    await asAdministrator(
      test,
      `UPDATE ledger SET issued_at = issued_at - interval '1 hour' WHERE tenant_id = 'skewed' AND log_index % 2 = 0`,
    );
    const from = '2000-01-01T00:00:00.000Z' as Instant; // a valid instant
    const found = await allPages('skewed', { from, limit: 3 });
    const inOrderOfIssue = (left: DecisionReply, right: DecisionReply) =>
      (left.log_index % 2) - (right.log_index % 2) || left.log_index - right.log_index;
    expect(ids(found)).toEqual(
      ids(
        sealed
          .sort(inOrderOfIssue)
          .reverse()
          .map(({ receipt }) => receipt),
      ),
    );
  });

  it('returns nothing for a verdict and a reason that exclude each other', async () => {
    await seal(test, { tenant: 'excluded' });
    const requests = [
      { verdict: 'ALLOW', reason_code: 'POLICY_DENIED' },
      { verdict: 'DENY', reason_code: 'ALLOWED' },
    ] as const;
    for (const query of requests) expect(await allPages('excluded', query)).toEqual([]);
    expect(await allPages('excluded', { verdict: 'ALLOW', reason_code: 'ALLOWED' })).toHaveLength(1);
  });

  it('requires a session for a position in a chain', async () => {
    const request = test.as('filters').listReceipts({ query: { lamport_clock: 1 } });
    await expect(request).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'lamport_clock' });
  });

  it('rejects a cursor that was changed or belongs to another tenant or list', async () => {
    await sealMany(test, 3, { tenant: 'cursors' });
    const { body } = await test.as('cursors').listReceipts({ query: { limit: 1 } });
    const cursor = body.next_cursor ?? '';
    const strays = [
      test.as('acme').listReceipts({ query: { cursor } }),
      test.as('cursors').listRecords({ query: { cursor } }),
      test.as('cursors').listReceipts({ query: { cursor: `${cursor}A` } }),
      test.as('cursors').listReceipts({ query: { cursor: '!' } }),
    ];
    for (const stray of strays) await expect(stray).rejects.toMatchObject({ code: 'INVALID_REQUEST', param: 'cursor' });
  });

  it('returns one receipt by its ID', async () => {
    const { receipt, receipt_id } = await seal(test);
    const { body } = await test.as('acme').getReceipt({ params: { receipt_id } });
    expect(body).toEqual(receipt);
  });
});

describe('GET /api/v1/boundary/records', () => {
  verifies(
    'kn.deny.proof',
    'returns denials whose record, receipt and inclusion proof verify like those of an allowed call',
    async () => {
      const replies = [
        await seal(test),
        await seal(test, { tool: 'files.delete' }),
        await seal(test, { tool: 'pay.send' }),
      ];
      expect(replies.map(({ verdict }) => verdict)).toEqual(['ALLOW', 'DENY', 'ESCALATE']);
      for (const { record_id, record_hash, receipt_id } of replies) {
        const { body: record } = await test.as('acme').getRecord({ params: { record_id } });
        expect(record).toMatchObject({ record_hash, receipt_id });
        const { body } = await test.as('acme').verifyRecord({ params: { record_id } });
        expect(body.checks.filter(({ passed }) => !passed)).toEqual([]);
        expect(body).toMatchObject({ verified: true, receipt_id, checkpoint_id: expect.stringMatching(/^chk_/) });
      }
    },
  );

  it('pages and filters like receipts', async () => {
    const session_id = newSession();
    const sealed = [];
    for (let count = 0; count < 5; count += 1) sealed.push(await seal(test, { session_id }));
    const first = await test.as('acme').listRecords({ query: { session_id, limit: 3 } });
    const rest = await test.as('acme').listRecords({ query: { session_id, cursor: first.body.next_cursor ?? '' } });
    const found = [...first.body.data, ...rest.body.data].map(({ record_id }) => record_id);
    expect(found).toEqual(sealed.map(({ record_id }) => record_id).reverse());
    const { receipt_id, record_id } = await seal(test);
    const { body } = await test.as('acme').listRecords({ query: { receipt_id } });
    expect(body.data.map((record) => record.record_id)).toEqual([record_id]);
  });

  it('finds the record of a decision also by the receipt of its outcome, only in its own tenant', async () => {
    const { boundary } = test.kernel.context;
    const decision = await decideAndDie(boundary, spawnedAgent({ session: newSession() }));
    const { payload } = await boundary.settle(decision, { outcome: 'uncertain' });
    const query = { receipt_id: payload.receipt_id };
    expect([payload.kind, payload.receipt_id === decision.reply.receipt_id]).toEqual(['outcome', false]);
    const { body } = await test.as('acme').listRecords({ query });
    expect(body.data.map((record) => record.record_id)).toEqual([decision.reply.record_id]);
    expect((await test.as('globex').listRecords({ query })).body.data).toEqual([]);
  });
});
