import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PrincipalId, TenantId } from '@countersign/contracts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import { ledgerOf, movableClock, newSession, said } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const nothingPolicy = starterPolicy.replace('effect: allow', 'effect: deny');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '1h' } });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

const read = (): GovernedCall => ({
  caller: {
    tenant: 'acme' as TenantId,
    principal: 'agent' as PrincipalId, // within their schemas
    identity: { kind: 'operator_credential' },
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

/** What is submitted in one turn of the event loop while the ledger is busy commits together, in the order of submission. */
const ledgerIsBusy = (tenant: string) => test.activate(tenant, starterPolicy);

describe('in one batch', () => {
  it('a decision behind the activation of a policy is made under that policy', async () => {
    expect(said(await decide(read()))).toBe('ALLOW ALLOWED');
    const call = read();
    const [, , reply] = await Promise.all([ledgerIsBusy('busy-1'), test.activate('*', nothingPolicy, 2), decide(call)]);
    expect([said(reply), reply.policy_epoch]).toEqual(['DENY POLICY_DENIED', 2]);
    expect(await ledgerOf(test, call.session)).toHaveLength(1);
    await test.activate('*', starterPolicy, 3);
    expect(said(await decide(read()))).toBe('ALLOW ALLOWED');
  });

  it('a decision behind the confirmation of a policy that had become stale is made under it', async () => {
    time.advance(3_600_001);
    expect(said(await decide(read()))).toBe('DENY POLICY_STALE');
    const [, , reply] = await Promise.all([
      ledgerIsBusy('busy-2'),
      test.activate('*', starterPolicy, 3),
      decide(read()),
    ]);
    expect(said(reply)).toBe('ALLOW ALLOWED');
  });
});
