import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { asAdministrator } from './_administrator.ts';
import { Caller, newSession, said } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { waitsForLock } from './_statements.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

it('a database that answers before it has written is not asked to', async () => {
  const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
  await asAdministrator(test, `ALTER DATABASE "${rows[0]?.name}" SET synchronous_commit = 'off'`);
  await test.restart();
  expect((await test.pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
});

describe('a database whose transactions see one snapshot unless told otherwise', () => {
  it('lets no commit pass that waited for a change of the controls', async () => {
    const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
    const sets = `ALTER DATABASE "${rows[0]?.name}" SET default_transaction_isolation = 'repeatable read'`;
    await asAdministrator(test, sets);
    await test.restart();
    const agent = new Caller(test);
    const read = { tool: 'files.read', session_id: newSession() };
    expect(said(await agent.decide(read))).toBe('ALLOW ALLOWED');

    const administrator = await test.pool.connect();
    await administrator.query('BEGIN');
    await administrator.query(`INSERT INTO tool_blocks VALUES ('acme', 1, '{files.read}', now())`);
    const waiting = agent.decide(read);
    await until(() => waitsForLock(test.pool));
    await administrator.query('COMMIT');
    administrator.release();
    expect(said(await waiting)).toBe('DENY TOOL_BLOCKED');
  });
});
