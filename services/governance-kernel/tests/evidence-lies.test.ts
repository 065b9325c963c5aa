import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { canonicalize, digestOf, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyText } from '@countersign/verifier';
import { asAdministrator } from './_administrator.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { packOf } from './_pack.ts';
import { signedActivation } from './_policies.ts';
import { newSession, seal } from './_seal.ts';

/**
 * The kernel of a dishonest operator, who changes tables directly, so that the kernel seals wrong decisions. Each
 * receipt verifies, and so does the log, but the receipts contradict each other.
 */
let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({ twins: false, unverified: 'its rows are written by hand' });
  await test.activate('acme', starterPolicy);
  await seal(test);
});
afterEach(() => test.close());

async function lie(sql: string, values: unknown[] = []): Promise<void> {
  await asAdministrator(test, sql, values);
  await test.restart();
}

async function faultOf(request: object = {}, tenant = 'acme'): Promise<string | undefined> {
  return (await reportOn(request, tenant)).fault?.code;
}

async function reportOn(request: object, tenant = 'acme') {
  const trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
  const { text } = await packOf(test, request, tenant);
  return verifyText(text, { trust, provider: nodeProvider, tenant });
}

describe('a pack of the whole log', () => {
  verifies('kn.evidence.verify', 'reveals an ALLOW after a sealed freeze', async () => {
    await test.setFence('tenant:acme', 'freeze');
    expect((await seal(test)).verdict).toBe('DENY');
    expect(await faultOf()).toBeUndefined();
    await lie('DELETE FROM fences');
    expect((await seal(test)).verdict).toBe('ALLOW');
    expect(await faultOf()).toBe('CONTROL_CONTRADICTED');
  });

  it.each(['tool:acme/files.read', 'server:acme/files'])('reveals an ALLOW after %s was frozen', async (scope) => {
    await test.setFence(scope, 'freeze');
    expect((await seal(test)).verdict).toBe('DENY');
    expect(await faultOf()).toBeUndefined();
    await lie('DELETE FROM fences');
    expect((await seal(test)).verdict).toBe('ALLOW');
    expect(await faultOf()).toBe('CONTROL_CONTRADICTED');
  });

  verifies('kn.evidence.verify', 'reveals an ALLOW to a revoked agent', async () => {
    const [operator, params] = [test.as('acme', 'olga'), { principal: 'rob' }];
    await operator.putIdentity({ params: { ...params, directory: 'agents' }, body: { display_name: 'Rob' } } as never);
    await operator.revokeIdentity({ params: { ...params, directory: 'agents' } } as never);
    expect(await faultOf()).toBeUndefined();
    await lie('UPDATE identities SET revoked_at = NULL');
    expect((await seal(test, { principal: 'rob' })).verdict).toBe('ALLOW');
    expect(await faultOf()).toBe('CONTROL_CONTRADICTED');
  });

  verifies('kn.evidence.verify', 'reveals a decision under a policy that was replaced', async () => {
    await test.activate('acme', starterPolicy.replace('name: test', 'name: other'), 2);
    await seal(test);
    expect(await faultOf()).toBeUndefined();
    await lie(
      'UPDATE policy_heads h SET (epoch, policy_hash, confirmed_at, key_id, signature) = (SELECT epoch, policy_hash, activated_at, key_id, signature FROM policy_bundles b WHERE b.tenant_id = h.tenant_id AND b.epoch = 1)',
    );
    await seal(test);
    expect(await faultOf()).toBe('CONTROL_CONTRADICTED');
  });

  verifies('kn.evidence.verify', 'reveals a decision under a policy that was never activated', async () => {
    const forged = signedActivation(test.kernel, { tenant: 'fresh', bundle: starterPolicy, epoch: 1 });
    const text = canonicalize(parsePlainJson(forged.bundle));
    const row = [
      'fresh',
      1,
      digestOf(nodeProvider, text),
      forged.signature.key_id,
      forged.signature.value,
      forged.confirmedAt,
    ];
    await asAdministrator(
      test,
      `INSERT INTO policy_bundles (tenant_id, epoch, policy_hash, key_id, signature, activated_at, bundle) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [...row, text],
    );
    await lie(
      `INSERT INTO policy_heads (tenant_id, epoch, policy_hash, key_id, signature, confirmed_at) VALUES ($1, $2, $3, $4, $5, $6)`,
      row,
    );
    expect((await seal(test, { tenant: 'fresh' })).verdict).toBe('ALLOW');
    expect(await faultOf({}, 'fresh')).toBe('CONTROL_CONTRADICTED');
  });
});

describe('a pack of a range', () => {
  verifies(
    'kn.evidence.verify',
    'reveals an ALLOW after a freeze in the range, and reports which controls it cannot check',
    async () => {
      const frozenAt = await sizeOfLog();
      await test.setFence('tenant:acme', 'freeze');
      await seal(test);
      const liesFrom = await sizeOfLog();
      await lie('DELETE FROM fences');
      await seal(test);
      expect(await faultOf({ leaves: { from: frozenAt } })).toBe('CONTROL_CONTRADICTED');
      const later = await reportOn({ leaves: { from: liesFrom } });
      expect(later).toMatchObject({ fault: null, verdict: 'VERIFIED' });
      expect(later.limits).toContainEqual(`controls that were set before leaf ${liesFrom} and not changed since`);
      expect((await reportOn({ leaves: { from: frozenAt } })).limits).toEqual([]);
    },
  );
});

async function sizeOfLog(): Promise<number> {
  return (await reportOn({})).pack?.scope.leaves.to ?? 0;
}

describe('a pack of a session', () => {
  const escalating = starterPolicy.replace('effect: allow', 'effect: escalate');

  async function approvedCall(policy = escalating, before = '') {
    await test.activate('acme', policy, 2);
    const call = { session_id: newSession(), tool: 'files.read' };
    const { approval } = await seal(test, call);
    if (before !== '') await lie(before);
    const params = { approval_id: approval?.approval_id, action: 'approve' };
    const { body } = await test.as('acme', 'alice').listApprovals({ query: { state: 'pending' } as never });
    const headers = { 'if-match': `"${body.data[0]?.ceremony_hash}"` };
    await test.as('acme', 'alice').transitionApproval({ params, body: {}, headers } as never);
    return call;
  }

  verifies('kn.evidence.verify', 'reveals an approval that was used too often', async () => {
    const call = await approvedCall();
    expect((await seal(test, call)).verdict).toBe('ALLOW');
    const scope = { sessions: [call.session_id] };
    expect(await faultOf(scope)).toBeUndefined();
    await lie("UPDATE approvals SET uses_remaining = 1, state = 'approved'");
    expect((await seal(test, call)).verdict).toBe('ALLOW');
    expect(await faultOf(scope)).toBe('APPROVAL_CONTRADICTED');
  });

  verifies('kn.evidence.verify', 'reveals an approval with fewer votes than its rule requires', async () => {
    const two = starterPolicy.replace('effect: allow', 'effect: escalate\n    approval: { quorum: 2 }');
    const call = await approvedCall(two, 'UPDATE approvals SET quorum = 1');
    await lie(
      `UPDATE approvals SET approved_by = array_append(approved_by, 'bob'), approved_with = approved_with || approved_with,
         approved_as = approved_as || approved_as, approved_credentials = approved_credentials || approved_credentials`,
    );
    expect((await seal(test, call)).verdict).toBe('ALLOW');
    expect(await faultOf({ sessions: [call.session_id] })).toBe('APPROVAL_CONTRADICTED');
  });
});
