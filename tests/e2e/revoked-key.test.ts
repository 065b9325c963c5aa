import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { createCheckpoint } from '@countersign/contracts/governance-kernel';
import type { StartedSystem } from '@countersign/local';
import { endOf, receiptsOf, start } from './_console-runs.ts';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, inDatabase, scratchDataDir, startIn } from './_system.ts';

const address = addressBook();
const dataDir = scratchDataDir();
const timeoutMs = 120_000;
let system: StartedSystem;
let ada: Person;

beforeAll(async () => {
  // A system of its own: the key that is revoked is that of the whole installation, and gateways never forget a revocation.
  system = await startIn(dataDir.path);
  ada = await personAt(system.gatewayUrl, address('ada'));
}, timeoutMs);

afterAll(async () => {
  await system?.stop();
  dataDir.remove();
}, timeoutMs);

it('shows receipts of a run as verified that a checkpoint saw before their key was revoked, and none that it did not', async () => {
  const { body } = await start(ada, { title: 'Read', description: 'say hello' });
  await endOf(ada, body['run_id']);
  const faults = async () => new Set((await receiptsOf(ada, body['run_id'])).map(({ fault }) => fault));
  const headers = { authorization: `Bearer ${system.adminApiKey}` };
  const log = createClient({ createCheckpoint }, { baseUrl: system.kernelUrl, headers: () => headers });
  const seenAt = Date.parse((await log.createCheckpoint()).body.created_at);
  const revoke = (at: number) =>
    inDatabase(dataDir.path, {
      schema: 'kernel',
      statement: "UPDATE trust_keys SET revoked_at = $1 WHERE purpose = 'receipts'",
      values: [new Date(at)],
    });
  await revoke(seenAt + 1);
  expect(await faults()).toEqual(new Set([null]));
  await revoke(seenAt - 3_600_000);
  expect(await faults()).toEqual(new Set(['KEY_REVOKED']));
});
