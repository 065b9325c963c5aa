import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { openDatabase, type Database } from '@countersign/database';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import { createBoundary } from '../src/decision/boundary.ts';
import { GroupCommit } from '../src/ledger/group-commit.ts';
import { controls } from '../src/controls.ts';
import { createCommit } from '../src/ledger/commit.ts';
import { ledgerStore } from '../src/store/ledger-store.ts';
import { ledgerOf, newSession, refusal } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let database: Database;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  database = openDatabase({ url: test.database.url, schema: 'kernel' });
  // PostgreSQL answers the COMMIT of an aborted transaction with ROLLBACK and without an error. This client gets that
  // answer because it sends ROLLBACK instead of COMMIT.
  database.pool.on('connect', (client) => {
    const send = client.query.bind(client) as (...sent: unknown[]) => unknown;
    const query = (statement: unknown, ...rest: unknown[]) =>
      send(statement === 'COMMIT' ? 'ROLLBACK' : statement, ...rest);
    client.query = query as typeof client.query; // the same calls with one word replaced
  });
});
afterAll(async () => {
  await database.close();
  await test.close();
});

verifies('kn.fc.receipt', 'a decision whose COMMIT was answered with ROLLBACK is not returned', async () => {
  const { cycle, provider, signers, clockGuard, keyGuard } = test.kernel.context;
  const store = ledgerStore({ pool: database.pool, controls, clockGuard, keyGuard });
  const ledger = new GroupCommit(createCommit({ store, sealer: { provider, signer: signers.receipts }, controls }));
  const second = createBoundary({ ...cycle, ledger });
  const session = newSession();
  const call = {
    caller: {
      tenant: 'acme' as TenantId,
      principal: 'agent' as PrincipalId,
      scopes: [],
    },
    session,
    kind: 'tool' as const,
    tool: 'files.read',
    resource: null,
    args: {},
    context: {},
    mode: 'enforce' as const,
    dispatchedBy: 'caller' as const,
  };
  await second.decide(call);
  // The first kernel makes the chain longer than `second` knows. `second` therefore decides its next call again under
  // locks, in a transaction with its own COMMIT.
  await test.kernel.context.boundary.decide(call);
  expect(await refusal(second.decide(call))).toBe('RECEIPT_STORE_UNAVAILABLE');
  expect(await ledgerOf(test, session)).toHaveLength(2);
});
