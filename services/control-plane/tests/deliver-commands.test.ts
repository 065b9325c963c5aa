import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AppError, WorkspaceId } from '@countersign/contracts';
import { FenceScope } from '@countersign/contracts/governance-kernel';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { newCommandId } from '../src/ids.ts';
import { deliverCommands } from '../src/ops/deliver-commands.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import { getCommand, insertCommand, lockScope } from '../src/store/stops.ts';

const now = new Date('2026-01-01T00:00:00Z');
const workspaceId = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
const scope = FenceScope.parse(`agent:${workspaceId}/heidi`);
let scratch: TestDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  database = openControlPlaneDatabase(scratch.url);
});

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

/** A kernel, as a control plane sees it. Another caller has raised its fence to epoch 7. */
class KernelAtSeven {
  readonly versions: number[] = [];
  #epoch = 7;
  readonly #beforeRead: () => Promise<void>;
  readonly #beforeTaking: () => Promise<void>;

  constructor(beforeRead: () => Promise<void>, beforeTaking: () => Promise<void>) {
    this.#beforeRead = beforeRead;
    this.#beforeTaking = beforeTaking;
  }

  /** The members of a context that a delivery uses. */
  get context(): Parameters<typeof deliverCommands>[0] {
    const kernel = { own: () => ({ putFence: this.#put, getFence: this.#get }) };
    return { kernel, database, transaction: database.transaction, now: () => now } as never; // no other member is used
  }

  readonly #put = async ({ body }: { body: { epoch: number } }) => {
    if (body.epoch < this.#epoch) throw new AppError('ILLEGAL_TRANSITION', 'the epoch does not rise');
    await this.#beforeTaking();
    this.#epoch = body.epoch;
    this.versions.push(body.epoch);
    return { body: { effective_at: now.toISOString() } };
  };

  readonly #get = async () => {
    await this.#beforeRead();
    const open = { kind: 'open', call_limit: null, window_seconds: null, expires_at: null };
    return { body: { scope, epoch: this.#epoch, ...open } };
  };
}

it('a command is delivered even if the delivery that raised its epoch never ends', async () => {
  const command = await database.transaction(async (tx) => {
    const epoch = (await lockScope(tx, { scope, workspaceId })) + 1;
    const terms = { kind: 'freeze', reason: 'a leak', callLimit: null, windowSeconds: null, expiresAt: null } as const;
    const byItself = { planId: null, incidentId: null, decisionId: null, receiptId: null };
    const values = { id: newCommandId(), scope, workspaceId, epoch, givenBy: 'olga', givenAt: now };
    return await insertCommand(tx, { ...terms, ...byItself, ...values });
  });
  const bothHaveRead = meeting(2);
  const neverAgain = new Promise<never>(() => undefined);
  const firstTries = [neverAgain];
  const kernel = new KernelAtSeven(bothHaveRead, async () => await firstTries.pop());
  const deliveries = [deliverCommands(kernel.context, scope), deliverCommands(kernel.context, scope)];
  await Promise.race(deliveries);
  expect(await getCommand(database.reader, command.id)).toMatchObject({ epoch: 8, state: 'effective' });
  expect(kernel.versions).toEqual([8]);
});

/** Blocks callers until this number of them have come. */
function meeting(count: number): () => Promise<void> {
  let come = 0;
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return () => {
    if ((come += 1) === count) open();
    return opened;
  };
}
