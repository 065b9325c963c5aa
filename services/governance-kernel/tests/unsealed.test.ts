import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { asAdministrator } from './_administrator.ts';
import { ledgerOf, newSession } from './_caller.ts';
import { activateRules } from './_causes.ts';
import { connectMcp, doors, type Door, type Site } from './_doors.ts';
import { startUpstreams } from './_upstreams.ts';

/** How long a chat retries the decisions on a model's answer: longer than one retry pause, which is 250 ms. */
const ledgerAwayMsMax = 300;

let site: Site;
beforeAll(async () => {
  const upstreams = await startUpstreams({}, [], { ledgerAwayMsMax });
  site = { ...upstreams, mcp: await connectMcp(upstreams.test.kernel.url) };
  for (const door of doors) await activateRules({ site, door, advance: () => undefined }, 'allow');
  await asAdministrator(
    site.test,
    `CREATE FUNCTION refuse_to_seal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by a test'; END $$`,
  );
});
afterAll(async () => {
  await site.mcp.close();
  await site.close();
});

/** Store failures after a decision was made: at one of its rows, and at the commit. */
const faults: [string, string][] = [
  ['a receipt that cannot be written', 'TRIGGER unsealable BEFORE INSERT ON ledger'],
  ['a commit that fails', 'CONSTRAINT TRIGGER unsealable AFTER INSERT ON ledger DEFERRABLE INITIALLY DEFERRED'],
];

const breakStore = (trigger: string) =>
  asAdministrator(site.test, `CREATE ${trigger} FOR EACH ROW EXECUTE FUNCTION refuse_to_seal()`);
const mendStore = () => asAdministrator(site.test, 'DROP TRIGGER IF EXISTS unsealable ON ledger');

async function receiptCount(): Promise<number> {
  const { rows } = await site.test.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM ledger');
  return rows[0]?.count ?? 0;
}

/** Makes one call through a door. Returns whether it was released, and how many calls were dispatched and sealed. */
async function pass(door: Door, meanwhile: () => Promise<void> = async () => undefined) {
  let sealed = 0;
  const sent = door.dispatches(site);
  const call = {
    session: newSession(),
    args: { id: 'a', text: 'x' },
    meanwhile: async () => {
      await meanwhile();
      sealed = await receiptCount();
    },
  };
  const answer = await door.call(site, call).catch(() => null);
  return {
    released: answer?.released ?? false,
    dispatched: door.dispatches(site) - sent,
    sealed: (await receiptCount()) - sealed,
  };
}

describe('a decision that cannot be sealed', () => {
  for (const door of doors) {
    verifies('kn.fc.receipt', `has no effect: nothing is released or dispatched (${door.name})`, async () => {
      expect((await pass(door)).released).toBe(true);
      for (const [fault, trigger] of faults) {
        const seen = await pass(door, () => breakStore(trigger)).finally(mendStore);
        expect([fault, seen]).toEqual([fault, { released: false, dispatched: 0, sealed: 0 }]);
      }
      expect((await pass(door)).released).toBe(true);
    });
  }
});

describe('an outcome that cannot be sealed', () => {
  it('is reported as unsealed, and is sealed when the ledger is back', async () => {
    const door = doors.find(({ name }) => name === 'execute-mcp');
    if (door === undefined) throw new Error('there is no such door');
    const session_id = newSession();
    const body = { tool: 'notes.write_note', args: { id: 'a', text: 'x' }, session_id, context: {} } as never; // unbranded
    const execute = async () => (await site.test.as(door.tenant).executeMcp({ body })).body;
    expect(await execute()).toMatchObject({ is_error: false, outcome_sealed: true });
    await asAdministrator(
      site.test,
      `CREATE TRIGGER unsealable BEFORE INSERT ON ledger FOR EACH ROW WHEN (NEW.kind = 'outcome') EXECUTE FUNCTION refuse_to_seal()`,
    );
    const unsealed = await execute().finally(mendStore);
    expect(unsealed).toMatchObject({
      ...{ is_error: false, outcome_sealed: false },
      result: { _meta: { 'countersign/outcome': 'completed', 'countersign/outcome_sealed': false } },
    });
    expect(unsealed.outcome_receipt_id).toBeUndefined();
    await site.test.kernel.workers.reconciler.run();
    const outcomes = (await ledgerOf(site.test, session_id)).filter(({ payload }) => payload.kind === 'outcome');
    expect(outcomes.map(({ payload }) => payload.outcome)).toEqual(['completed', 'completed']);
  });
});
