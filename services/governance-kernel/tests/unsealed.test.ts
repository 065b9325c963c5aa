import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { asAdministrator } from './_administrator.ts';
import { newSession } from './_caller.ts';
import { activateRules } from './_causes.ts';
import { connectMcp, doors, type Door, type Site } from './_doors.ts';
import { startUpstreams } from './_upstreams.ts';

/** More than the pause before a retry: an answer of the model meets the fault twice. */
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

/** Where the store fails under a decision that was made already: at a row of it, and after all rows went well. */
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

/** One call through a door; how it was told to the caller, and whether anything went out. */
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
  const told = await door.call(site, call).catch(() => null);
  return {
    released: told?.released ?? false,
    dispatched: door.dispatches(site) - sent,
    sealed: (await receiptCount()) - sealed,
  };
}

describe('a decision that cannot be sealed', () => {
  for (const door of doors) {
    verifies('kn.fc.receipt', `is no decision: nothing is released or dispatched (${door.name})`, async () => {
      expect((await pass(door)).released).toBe(true);
      for (const [fault, trigger] of faults) {
        const seen = await pass(door, () => breakStore(trigger)).finally(mendStore);
        expect([fault, seen]).toEqual([fault, { released: false, dispatched: 0, sealed: 0 }]);
      }
      expect((await pass(door)).released).toBe(true);
    });
  }
});
