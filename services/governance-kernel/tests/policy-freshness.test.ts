import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { parsePolicyBundle } from '@countersign/policy';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { keepActive } from '../src/controls/policy/keep-active.ts';
import { asAdministrator } from './_administrator.ts';
import { Caller, ledgerOf, movableClock, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { signedActivation, signedBody } from './_policies.ts';
import { ofNoTwin } from './_twins.ts';

const hourMs = 3_600_000;
const stricter = starterPolicy.replace('effect: allow', 'effect: deny');
const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeEach(async () => {
  test = await startTestKernel({
    overrides: { clock: time.clock },
    env: { GOV_POLICY_MAX_AGE: '1h' },
    contradicted: 'its policies are written by hand',
  });
});
afterEach(() => test.close());

/** The tenant of each test, with its own policy. */
let tenant = 'tenant-0';
let tenants = 0;
beforeEach(() => {
  tenant = `tenant-${(tenants += 1)}`;
});

const read = () => ({ action: 'tool.call', tool: 'files.read', session_id: newSession() });
const decided = async (by = tenant) => answerOf(await new Caller(test, by).decide(read()));
const ours = () => `tenant_id = '${tenant}'`;

/** A signed statement about the policy of the tenant. */
const signed = (request: { bundle?: string; epoch?: number; confirmedAtMs?: number } = {}) =>
  signedActivation(test.kernel, { tenant, bundle: starterPolicy, epoch: 1, ...request });

async function stated(statement: Awaited<ReturnType<typeof signed>>) {
  return await test.kernel.context.policies.activate(statement);
}

async function sealedStatements() {
  return (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === tenant);
}

/** Keeps the head of the policy. The returned function restores it, like a backup. */
async function keptHead(): Promise<() => Promise<void>> {
  const { rows } = await test.pool.query<object>(`SELECT * FROM policy_heads WHERE ${ours()}`);
  const [where, kept] = [ours(), JSON.stringify(rows)];
  return async () => {
    await asAdministrator(test, `DELETE FROM policy_heads WHERE ${where}`);
    const insert = 'INSERT INTO policy_heads SELECT * FROM jsonb_populate_recordset(NULL::policy_heads, $1::jsonb)';
    await asAdministrator(test, insert, [kept]);
  };
}

async function confirmedAt(): Promise<string | undefined> {
  const { rows } = await test.pool.query<{ confirmed_at: Date }>(
    `SELECT confirmed_at FROM policy_heads WHERE ${ours()}`,
  );
  return rows[0]?.confirmed_at.toISOString();
}

describe('the confirmation time of a policy', () => {
  verifies('kn.fc.policy.stale', 'is not renewed by an earlier statement, from any sender', async () => {
    const activation = signed();
    await stated(activation);
    time.advance(hourMs / 2);
    const confirmation = signed();
    await stated(confirmation);
    for (const old of [
      activation,
      { ...confirmation, confirmedAt: activation.confirmedAt, signature: activation.signature },
    ])
      await expect(stated(old)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION', param: 'confirmed_at' });
    time.advance(hourMs / 2);
    await expect(stated(confirmation)).resolves.toMatchObject({ move: 'stands' });
    expect(await confirmedAt()).toBe(confirmation.confirmedAt);
    expect(await decided()).toBe('ALLOW ALLOWED');
    time.advance(hourMs / 2 + 1);
    await expect(stated(confirmation)).rejects.toMatchObject({ param: 'confirmed_at', reasonCode: 'POLICY_STALE' });
    expect(await decided()).toBe('DENY POLICY_STALE');
  });

  verifies(
    'kn.fc.policy.stale',
    'must be recent: an activation that was kept back for too long is refused',
    async () => {
      await stated(signed());
      const kept = signed({ bundle: stricter, epoch: 2 });
      time.advance(hourMs);
      await stated(signed());
      time.advance(2);
      await expect(stated(kept)).rejects.toMatchObject({ code: 'INVALID_REQUEST', reasonCode: 'POLICY_STALE' });
      expect(await decided()).toBe('ALLOW ALLOWED');
    },
  );

  verifies(
    'kn.fc.policy.stale',
    'must rise with each epoch: a higher epoch that was signed earlier is refused',
    async () => {
      const early = signed({ bundle: stricter, epoch: 2 });
      time.advance(1_000);
      await stated(signed());
      await expect(stated(early)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION', param: 'confirmed_at' });
      expect(await decided()).toBe('ALLOW ALLOWED');
    },
  );

  it('may be at most one minute in the future', async () => {
    const aheadMs = (ms: number) => ({ confirmedAtMs: time.clock().getTime() + ms });
    await expect(stated(signed(aheadMs(60_001)))).rejects.toMatchObject({ param: 'confirmed_at' });
    await stated(signed(aheadMs(60_000)));
    expect(await decided()).toBe('ALLOW ALLOWED');
    time.advance(-1);
    expect(await decided()).toBe('DENY POLICY_STALE');
  });

  verifies('kn.atomic', 'is sealed with each confirmation, in a statement that verifies offline', async () => {
    const times: string[] = [];
    while (times.length < 2) {
      times.push((await stated(signed())).confirmedAt);
      time.advance(1_000);
    }
    const sealed = await sealedStatements();
    expect(sealed.map(({ payload }) => payload.action)).toEqual(['policy.change', 'policy.confirm']);
    expect(sealed.map(({ record }) => record?.intent.facts['confirmed_at'])).toEqual(times);
    const { body } = await test.as(tenant).exportReceipts({ query: { session_id: 'policy' } });
    const trust = parseKeySet((await test.as(tenant).listTrustKeys()).body);
    const lines = body.map((line) => JSON.stringify(line));
    expect(verifyExport(lines, { trust, provider: nodeProvider })).toMatchObject({ verdict: 'VERIFIED', receipts: 2 });
  });
});

describe('a stored confirmation of a policy', () => {
  const damaged: Record<string, string> = {
    'a later time': `confirmed_at = confirmed_at + interval '1 minute'`,
    'the signature of another signer': `signature = reverse(signature)`,
    'no signature': `signature = ''`,
    'an unknown key': `key_id = 'unknown'`,
  };
  verifies('kn.fc.policy.stale', `is not accepted with ${Object.keys(damaged).join(', ')}`, async () => {
    await stated(signed());
    const denied = ['DENY POLICY_SIGNATURE_INVALID', 'DENY POLICY_STALE'];
    for (const [what, change] of Object.entries(damaged)) {
      await asAdministrator(test, `UPDATE policy_heads SET ${change} WHERE ${ours()}`);
      const verdict = await decided();
      expect([what, denied.includes(verdict)]).toEqual([what, true]);
      await test.restart();
      expect([what, await decided()]).toEqual([what, 'DENY POLICY_SIGNATURE_INVALID']);
      time.advance(1);
      await stated(signed({ confirmedAtMs: time.clock().getTime() }));
      expect([what, await decided()]).toEqual([what, 'ALLOW ALLOWED']);
    }
  });

  verifies(
    'kn.fc.policy.stale',
    'is not accepted after a restore, because the kernel has seen a newer one',
    async () => {
      await stated(signed());
      const bringBack = await keptHead();
      time.advance(60_000);
      const newest = signed();
      await stated(newest);
      expect(await decided()).toBe('ALLOW ALLOWED');
      await bringBack();
      expect(await decided()).toBe('DENY POLICY_STALE');
      const between = signed({ confirmedAtMs: Date.parse(newest.confirmedAt) - 1 });
      await expect(stated(between)).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
      time.advance(1);
      await stated(signed());
      expect(await decided()).toBe('ALLOW ALLOWED');
    },
  );

  verifies(
    'kn.fc.policy.stale',
    'does not restore an earlier bundle, even on a kernel that has just started',
    async () => {
      await stated(signed());
      const bringBack = await keptHead();
      time.advance(1_000);
      await stated(signed({ bundle: stricter, epoch: 2 }));
      expect(await decided()).toBe('DENY POLICY_DENIED');
      await bringBack();
      await test.restart();
      expect(await decided()).toBe('DENY POLICY_STALE');
    },
  );

  verifies(
    'kn.fc.policy.missing',
    'does not leave its tenant under the bundle of all tenants when it is deleted',
    async () => {
      await test.activate('*', starterPolicy);
      await stated(signed({ bundle: stricter }));
      expect(await decided()).toBe('DENY POLICY_DENIED');
      await asAdministrator(test, `DELETE FROM policy_heads WHERE ${ours()}`);
      expect(await decided()).toBe('DENY POLICY_STALE');
      expect(await decided('globex')).toBe('ALLOW ALLOWED');
    },
  );

  it('does not make a kernel ready when it is unsigned', async () => {
    await stated(signed());
    time.advance(2 * hourMs);
    await asAdministrator(
      test,
      `UPDATE policy_heads SET confirmed_at = '${time.clock().toISOString()}' WHERE ${ofNoTwin}`,
    );
    const response = await fetch(`${test.kernel.healthUrl}/health/ready`);
    expect(await response.json()).toMatchObject({ checks: { policy: 'down' } });
  });
});

describe('statements of one batch', () => {
  /** Submits all statements in one transaction, one after the other. */
  async function statedTogether(...statements: ReturnType<typeof signed>[]): Promise<string[]> {
    const { policies, cycle } = test.kernel.context;
    const prepared = await Promise.all(statements.map((statement) => policies.prepare(statement)));
    return await cycle.ledger.submit({
      chain: { tenant: tenant as TenantId, session: 'policy' as SessionId }, // match their schemas
      wants: prepared.flatMap(({ wants }) => wants),
      conclude: (batch) => {
        const moves = prepared.map((one) => {
          const { move, make } = policies.statementIn(batch, one);
          make();
          return move;
        });
        return () => moves;
      },
    });
  }

  async function epochsKept(): Promise<number[]> {
    const kept = `SELECT epoch FROM policy_bundles WHERE ${ours()} ORDER BY epoch`;
    return (await test.pool.query<{ epoch: number }>(kept)).rows.map(({ epoch }) => epoch);
  }

  verifies(
    'kn.fc.policy.missing',
    'never leave a head without its bundle: one activates and the next confirms',
    async () => {
      expect(await statedTogether(signed(), signed())).toEqual(['activate', 'confirm']);
      expect([await epochsKept(), await decided()]).toEqual([[1], 'ALLOW ALLOWED']);
      await test.restart();
      expect(await decided()).toBe('ALLOW ALLOWED');
    },
  );

  it('keep each bundle that they activate, and the last one is in force', async () => {
    const moves = await statedTogether(signed(), signed({ epoch: 2, bundle: stricter }));
    expect(moves).toEqual(['activate', 'activate']);
    expect([await epochsKept(), await decided()]).toEqual([[1, 2], 'DENY POLICY_DENIED']);
  });
});

describe('two kernels on one database', () => {
  verifies(
    'kn.fc.policy.stale',
    'accept only rising statements out of 20 concurrent ones, and both use the newest',
    async () => {
      await stated(signed());
      const second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
      try {
        const statements = Array.from({ length: 20 }, (_, nth) =>
          signed({ confirmedAtMs: time.clock().getTime() + 1_000 + nth }),
        );
        const messages = await Promise.allSettled(
          statements.map((statement, nth) =>
            (nth % 2 === 0 ? test.kernel : second).context.policies.activate(statement),
          ),
        );
        for (const { reason } of messages.filter((one) => one.status === 'rejected'))
          expect(reason).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
        const sealed = (await sealedStatements()).map(({ record }) => String(record?.intent.facts['confirmed_at']));
        expect(sealed).toEqual([...new Set(sealed)].sort());
        expect(sealed).toHaveLength(1 + messages.filter(({ status }) => status === 'fulfilled').length);
        expect(await confirmedAt()).toBe(sealed.at(-1));
        await expect(second.context.policies.activate(statements[0] as never)).rejects.toMatchObject({
          code: 'ILLEGAL_TRANSITION',
        });
      } finally {
        await second.stop();
      }
    },
  );

  it('do not fail when they activate the same bundle at once: the later one reads the state again', async () => {
    const { policies, signers } = test.kernel.context;
    const { keyId, sign } = signers.policies;
    const signature = (bytes: Uint8Array) => ({
      alg: 'Ed25519' as const,
      key_id: keyId,
      value: encodeBase64Url(sign(bytes)),
    });
    const bundle = parsePolicyBundle(starterPolicy);
    const policyHash = (await policies.compile(bundle)).hash;
    const kept = { tenant, bundle, policyHash, by: 'test' as PrincipalId, replaces: true }; // matches its schema
    const deps = { policies, sign: signature, clock: time.clock, confirmEveryMs: hourMs };
    const ahead = { ...deps, clock: () => new Date(time.clock().getTime() + 1_000) };
    const first = keepActive(ahead, kept);
    const late = {
      reload: async (owner: string) => {
        await policies.reload(owner);
        await first;
      },
      stateOf: (owner: string) => policies.stateOf(owner),
      activate: (activation: Parameters<typeof policies.activate>[0]) => policies.activate(activation),
    };
    await policies.reload(tenant);
    await expect(keepActive({ ...deps, policies: late as typeof policies }, kept)).resolves.toBeNull();
    expect((await first)?.move).toBe('activate');
    expect(await sealedStatements()).toHaveLength(1);
  });
});

describe('the policy of another tenant', () => {
  verifies('kn.tenants', 'is neither renewed nor aged by statements of the first tenant', async () => {
    await stated(signed());
    await test.activate('globex', starterPolicy);
    const later = signed({ confirmedAtMs: time.clock().getTime() + 1_000 });
    await expect(stated({ ...later, tenant: 'globex' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    time.advance(hourMs);
    await stated(signed());
    time.advance(1);
    expect([await decided(), await decided('globex')]).toEqual(['ALLOW ALLOWED', 'DENY POLICY_STALE']);
  });
});

it('the route reports what is wrong with a statement', async () => {
  const body = signedBody(test.kernel, { tenant, bundle: starterPolicy, epoch: 1 });
  const { confirmed_at: _, ...without } = body;
  const put = async (sent: object) => await test.system.putPolicyBundle({ params: { tenant }, body: sent as never });
  await expect(put(without)).rejects.toMatchObject({ param: 'confirmed_at' });
  await expect(put({ ...body, confirmed_at: '2026-11-21T10:00:00.001Z' })).rejects.toMatchObject({
    code: 'PERMISSION_DENIED',
    reasonCode: 'POLICY_SIGNATURE_INVALID',
  });
  expect((await put(body)).body).toMatchObject({ confirmed_at: body.confirmed_at, activated_at: body.confirmed_at });
});
