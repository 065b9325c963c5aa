import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import { asAdministrator } from './_administrator.ts';
import { Caller, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { waitsForLock } from './_statements.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ twins: false });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

it('the kernel turns synchronous_commit on, even if the database turns it off', async () => {
  const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
  await asAdministrator(test, `ALTER DATABASE "${rows[0]?.name}" SET synchronous_commit = 'off'`);
  await test.restart();
  expect((await test.pool.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }]);
});

describe('a database with repeatable read as the default isolation level', () => {
  it('does not hide a change of the controls from a call that waited for it', async () => {
    const { rows } = await test.pool.query<{ name: string }>('SELECT current_database() AS name');
    const sets = `ALTER DATABASE "${rows[0]?.name}" SET default_transaction_isolation = 'repeatable read'`;
    await asAdministrator(test, sets);
    await test.restart();
    const agent = new Caller(test);
    const read = { tool: 'files.read', session_id: newSession() };
    expect(answerOf(await agent.decide(read))).toBe('ALLOW ALLOWED');

    const administrator = await test.pool.connect();
    await administrator.query('BEGIN');
    await administrator.query(`INSERT INTO tool_blocks VALUES ('acme', 1, '{files.read}', now())`);
    const waiting = agent.decide(read);
    await until(() => waitsForLock(test.pool));
    await administrator.query('COMMIT');
    administrator.release();
    expect(answerOf(await waiting)).toBe('DENY TOOL_BLOCKED');
  });
});
