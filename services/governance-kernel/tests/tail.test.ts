import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { openEvents, type EventReader } from './_event-source.ts';
import { adminKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { newSession, seal, sealMany } from './_seal.ts';

let test: TestKernel;
beforeAll(async () => {
  // The test creates its own checkpoints.
  test = await startTestKernel({ env: { GOV_CHECKPOINT_RECEIPTS: '1000000', GOV_CHECKPOINT_INTERVAL: '1h' } });
  await test.activate('*', starterPolicy);
  // The first checkpoint is due with the first receipt.
  await test.kernel.context.checkpoints.create();
});
afterAll(() => test.close());

type Tail = { tenant?: string; query?: Record<string, string>; lastEventId?: string | undefined; at?: StartedKernel };

function tail({ tenant = 'acme', query = {}, lastEventId, at = test.kernel }: Tail = {}): Promise<EventReader> {
  const url = `${at.url}/api/v1/receipts/tail?${new URLSearchParams(query).toString()}`;
  const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant };
  return openEvents(url, { ...headers, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) });
}

type Seen = { receipts: StoredReceipt[]; lastId: string | undefined };

/** Reads until this number of receipts was seen. */
async function read(
  reader: EventReader,
  count: number,
  seen: Seen = { receipts: [], lastId: undefined },
): Promise<Seen> {
  while (seen.receipts.length < count) {
    const event = await reader.next();
    if (event === null) throw new Error(`the stream ended after ${seen.receipts.length} of ${count} receipts`);
    seen.lastId = event.id ?? seen.lastId;
    if (event.event === 'receipt') seen.receipts.push(JSON.parse(event.data) as StoredReceipt);
  }
  return seen;
}

const ids = (receipts: { payload: { receipt_id: string } }[]) => receipts.map(({ payload }) => payload.receipt_id);
const inLogOrder = (replies: { log_index: number; receipt_id: string }[]) =>
  [...replies].sort((left, right) => left.log_index - right.log_index).map(({ receipt_id }) => receipt_id);

describe('GET /api/v1/receipts/tail', () => {
  verifies(
    'kn.receipts.tail',
    'streams newly sealed receipts of one tenant only, with and without an agent filter',
    async () => {
      const tenant = 'streams';
      await seal(test, { tenant });
      const [everyone, ann] = await Promise.all([tail({ tenant }), tail({ tenant, query: { agent: 'ann' } })]);
      const byAnn = await seal(test, { tenant, principal: 'ann' });
      await seal(test, { tenant: 'elsewhere', principal: 'ann' });
      const byBob = await seal(test, { tenant, principal: 'bob' });
      const again = await seal(test, { tenant, principal: 'ann' });
      expect(ids((await read(everyone, 3)).receipts)).toEqual(
        [byAnn, byBob, again].map(({ receipt_id }) => receipt_id),
      );
      expect((await read(ann, 2)).receipts).toEqual([byAnn.receipt, again.receipt]);
      everyone.cut();
      ann.cut();
    },
  );

  verifies(
    'kn.receipts.tail',
    'resumes after many broken connections without loss or duplicate, during writes',
    async () => {
      const tenant = 'broken';
      let reader = await tail({ tenant });
      const sealing = sealMany(test, 300, { tenant });
      const others = sealMany(test, 100, { tenant: 'noise' });
      const seen: Seen = { receipts: [], lastId: undefined };
      for (let count = 7; count < 300; count += 37) {
        await read(reader, count, seen);
        reader.cut();
        reader = await tail({ tenant, lastEventId: seen.lastId, query: { since: 'ignored-because-older' } });
      }
      await read(reader, 300, seen);
      reader.cut();
      expect(ids(seen.receipts)).toEqual(inLogOrder(await sealing));
      await others;
    },
  );

  verifies(
    'kn.receipts.tail',
    'returns receipts that were sealed without a listener, far beyond its buffer',
    async () => {
      const tenant = 'behind';
      const first = await tail({ tenant });
      await seal(test, { tenant });
      const { lastId = '' } = await read(first, 1);
      first.cut();
      const missed = await sealMany(test, 1_200, { tenant });
      const resumed = await tail({ tenant, query: { since: lastId } });
      expect(ids((await read(resumed, 1_200)).receipts)).toEqual(inLogOrder(missed));
      resumed.cut();
    },
  );

  it('streams receipts that another replica sealed', async () => {
    const replica = await startKernel(kernelConfigFrom({ ...test.env }));
    const reader = await tail({ tenant: 'replicas', at: replica });
    const sealed = await sealMany(test, 5, { tenant: 'replicas' });
    expect(ids((await read(reader, 5)).receipts)).toEqual(inLogOrder(sealed));
    reader.cut();
    await replica.stop();
  });

  it('is not blocked by a reader that does not read, and that reader loses nothing', async () => {
    const [slow, quick] = await Promise.all([tail({ tenant: 'pace' }), tail({ tenant: 'pace' })]);
    const sealed = inLogOrder(await sealMany(test, 1_500, { tenant: 'pace' }));
    expect(ids((await read(quick, 1_500)).receipts)).toEqual(sealed);
    expect(ids((await read(slow, 1_500)).receipts)).toEqual(sealed);
    slow.cut();
    quick.cut();
  });

  it('reports a checkpoint after the receipts that it covers', async () => {
    const reader = await tail({ query: { session_id: newSession() } });
    const { log_index } = await seal(test);
    const { tree_size } = await test.kernel.context.checkpoints.create();
    const event = await reader.next();
    expect(event?.event).toBe('checkpoint');
    expect(JSON.parse(event?.data ?? '')).toMatchObject({ tree_size });
    expect(tree_size).toBeGreaterThan(log_index);
    reader.cut();
  });

  it('reports a store failure, and continues at the same position afterwards', async () => {
    const tenant = 'outage';
    const reader = await tail({ tenant });
    const administrator = new pg.Client({ connectionString: test.database.adminUrl });
    await administrator.connect();
    await administrator.query('ALTER TABLE kernel.log_head RENAME TO log_head_away');
    const fault = await reader.next();
    await administrator.query('ALTER TABLE kernel.log_head_away RENAME TO log_head');
    await administrator.end();
    expect(fault).toMatchObject({ event: 'error', data: '{"code":"STORE_UNAVAILABLE"}' });
    const sealed = await seal(test, { tenant });
    expect(ids((await read(reader, 1)).receipts)).toEqual([sealed.receipt_id]);
    reader.cut();
  });

  it('rejects a position of another tenant before it streams', async () => {
    const reader = await tail({ tenant: 'one' });
    await seal(test, { tenant: 'one' });
    const { lastId = '' } = await read(reader, 1);
    reader.cut();
    await expect(tail({ tenant: 'two', lastEventId: lastId })).rejects.toThrow(/^400 .*Last-Event-ID/);
    await expect(tail({ tenant: 'two', query: { since: lastId } })).rejects.toThrow(/^400 .*"since"/);
  });

  it('ends when the process stops', async () => {
    const replica = await startKernel(kernelConfigFrom({ ...test.env }));
    const reader = await tail({ at: replica });
    await seal(test);
    await read(reader, 1);
    await replica.stop();
    expect(await reader.next()).toBeNull();
  });
});
