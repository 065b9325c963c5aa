import { afterAll, beforeAll, expect } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { openDatabase, type Database } from '@countersign/database';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import { createBoundary } from '../src/boundary/boundary.ts';
import { GroupCommit } from '../src/ledger/group-commit.ts';
import { ledgerTransaction } from '../src/store/ledger-store.ts';
import { ledgerOf, newSession, refusal } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let database: Database;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  database = openDatabase({ url: test.database.url, schema: 'kernel' });
  // PostgreSQL answers COMMIT of an aborted transaction with a quiet ROLLBACK. Here it is made to, with every write accepted before.
  database.pool.on('connect', (client) => {
    const send = client.query.bind(client) as (...sent: unknown[]) => unknown;
    const query = (statement: unknown, ...rest: unknown[]) =>
      send(statement === 'COMMIT' ? 'ROLLBACK' : statement, ...rest);
    client.query = query as typeof client.query; // the same calls, one word exchanged
  });
});
afterAll(async () => {
  await database.close();
  await test.close();
});

verifies('kn.fc.receipt', 'a decision whose COMMIT was answered with ROLLBACK is not given', async () => {
  const { cycle, provider, signer, clock } = test.kernel.context;
  const ledger = new GroupCommit(ledgerTransaction({ pool: database.pool, sealer: { provider, signer }, clock }));
  const session = newSession();
  const call = {
    caller: {
      tenant: 'acme' as TenantId,
      principal: 'agent' as PrincipalId,
      identity: { kind: 'operator_credential' as const },
      scopes: [],
    },
    session,
    action: 'tool.call',
    tool: 'files.read',
    resource: null,
    effectLevel: 'E1' as const,
    args: {},
    context: {},
    mode: 'enforce' as const,
    dispatchedBy: 'caller' as const,
  };
  await test.kernel.context.boundary.decide(call);
  expect(await refusal(createBoundary({ ...cycle, ledger }).decide(call))).toBe('RECEIPT_STORE_UNAVAILABLE');
  expect(await ledgerOf(test, session)).toHaveLength(1);
});
