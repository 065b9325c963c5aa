import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BudgetId, PrincipalId, TenantId } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import pg from 'pg';
import { changeBudget } from '../src/controls/budgets/change-budget.ts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import type { GroupCommit } from '../src/ledger/group-commit.ts';
import { blockTools } from '../src/controls/policy/block-tools.ts';
import { ledgerOf, movableClock, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { waitsForLock } from './_statements.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const nothingPolicy = starterPolicy.replace('effect: allow', 'effect: deny');
let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '1h' } });
  await test.activate('*', starterPolicy);
});
afterEach(() => test.close());

const read = (): GovernedCall => ({
  caller: {
    tenant: 'acme' as TenantId,
    principal: 'agent' as PrincipalId, // match their schemas
    scopes: [],
  },
  session: newSession(),
  kind: 'tool',
  tool: 'files.read',
  resource: null,
  args: {},
  context: {},
  mode: 'enforce',
  dispatchedBy: 'caller',
});

const decide = async (call: GovernedCall) => (await test.kernel.context.boundary.decide(call)).reply;

/** Keeps the ledger busy with an activation. Entries submitted during it then commit together, in their order. */
const ledgerIsBusy = (tenant: string) => test.activate(tenant, starterPolicy);

/** Counts the entries that are submitted to a ledger from now on. */
function countSubmitted(ledger: Pick<GroupCommit, 'submit'>): { count: number } {
  const submit = ledger.submit.bind(ledger);
  const submitted = { count: 0 };
  ledger.submit = (entry) => {
    submitted.count += 1;
    return submit(entry);
  };
  return submitted;
}

/**
 * Submits `activate` and then `work`, so that the same batch commits both. A lock keeps the ledger busy until both were
 * submitted.
 */
async function behindActivation<Result>(tenant: string, activate: () => Promise<unknown>, work: () => Promise<Result>) {
  const holder = new pg.Client({ connectionString: test.database.adminUrl });
  await holder.connect();
  try {
    await holder.query('BEGIN; LOCK TABLE kernel.controls IN EXCLUSIVE MODE');
    const queued = countSubmitted(test.kernel.context.cycle.ledger);
    const busy = ledgerIsBusy(tenant);
    await until(() => waitsForLock(holder));
    const before = queued.count;
    const activated = activate();
    await until(() => queued.count > before);
    const result = work();
    await until(() => queued.count > before + 1);
    await holder.query('ROLLBACK');
    await Promise.all([busy, activated]);
    return await result;
  } finally {
    await holder.end();
  }
}

describe('in one batch', () => {
  it('a decision after the activation of a policy uses that policy', async () => {
    expect(answerOf(await decide(read()))).toBe('ALLOW ALLOWED');
    const call = read();
    const activate = () => test.activate('*', nothingPolicy, 2);
    const reply = await behindActivation('busy-1', activate, () => decide(call));
    expect([answerOf(reply), reply.policy_epoch]).toEqual(['DENY POLICY_DENIED', 2]);
    expect(await ledgerOf(test, call.session)).toHaveLength(1);
    await test.activate('*', starterPolicy, 3);
    expect(answerOf(await decide(read()))).toBe('ALLOW ALLOWED');
  });

  it('a decision after the renewed activation of a stale policy uses that policy', async () => {
    time.advance(3_600_000 + 1_000); // one more second, because confirmation times rise even if the clock does not
    expect(answerOf(await decide(read()))).toBe('DENY POLICY_STALE');
    const activate = () => test.activate('*', starterPolicy, 3);
    const reply = await behindActivation('busy-2', activate, () => decide(read()));
    expect(answerOf(reply)).toBe('ALLOW ALLOWED');
  });

  it('a changed budget keeps the usage of earlier decisions and limits later ones', async () => {
    const limitTo = (tool_call_limit: number) =>
      changeBudget(test.kernel.context, {
        tenant: 'acme' as TenantId,
        id: 'calls' as BudgetId,
        terms: { ...noLimits, tool_call_limit },
        by: 'test' as PrincipalId, // match their schemas
        versionAfter: (current) => (current?.version ?? 0) + 1,
        carryOn: (row) => row,
      });
    await limitTo(9);
    // After this decision, the kernel has cached everything that a decision needs.
    expect(answerOf(await decide(read()))).toBe('ALLOW ALLOWED');
    const busy = ledgerIsBusy('busy-3');
    const before = decide(read());
    await submitted();
    const changed = limitTo(3);
    const behind = [decide(read()), decide(read())];
    await Promise.all([busy, changed]);
    const verdicts = (await Promise.all([before, ...behind])).map(answerOf);
    expect(verdicts).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']);
    const { body } = await test.as('acme').listBudgets();
    expect(body.data).toMatchObject([{ tool_call_limit: 3, used: { tool_calls: 3 } }]);
  });

  it('a decision after a new list of blocked tools applies that list', async () => {
    const tools = ['files.read'];
    const blocks = { tenant: 'blocking' as TenantId, version: 1, tools, by: 'test' as PrincipalId }; // match their schemas
    const call = read();
    const blocked = { ...call, caller: { ...call.caller, tenant: blocks.tenant } };
    const [, , reply] = await Promise.all([
      ledgerIsBusy('busy-4'),
      blockTools(test.kernel.context, blocks),
      decide(blocked),
    ]);
    expect(answerOf(reply)).toBe('DENY TOOL_BLOCKED');
  });
});

const noLimits = {
  subject: 'tenant',
  window: 'total' as const,
  tool_call_limit: null,
  spend_limit_minor: null,
  currency: null,
  egress_limit_bytes: null,
  write_limit: null,
  approval_required_above_minor: null,
};

/**
 * Waits until a requested decision is submitted to the ledger. Its rules run before that, in this turn of the event
 * loop.
 */
async function submitted(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve();
}
