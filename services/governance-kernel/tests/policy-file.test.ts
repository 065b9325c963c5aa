import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PolicyBundle } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { until } from '@countersign/testkit/until';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { watchPolicyFile } from '../src/workers/policy-file.ts';
import { asAdministrator } from './_administrator.ts';
import { Caller, ledgerOf, movableClock, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const hourMs = 3_600_000;
const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '1h' } });
});
afterAll(() => test.close());

const read = () => ({ action: 'tool.call', tool: 'files.read', session_id: newSession() });
const decided = async () => answerOf(await new Caller(test, 'acme').decide(read()));

describe('a policy file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'policy-'));
  const path = join(folder, 'policy.yaml');
  afterAll(() => rmSync(folder, { recursive: true }));
  const byFile = () => kernelConfigFrom({ ...test.env, GOV_POLICY_FILE: path });
  const text = (reason: string) => starterPolicy.replace('A person confirms', reason);

  it('is activated again after the row of the active policy was lost', async () => {
    for (const reason of ['First, a person confirms', 'Then a person confirms']) {
      writeFileSync(path, text(reason));
      await (await startKernel(byFile(), { clock: time.clock })).stop();
      time.advance(1);
    }
    await asAdministrator(test, `DELETE FROM policy_heads WHERE tenant_id = '*'`);
    await (await startKernel(byFile(), { clock: time.clock })).stop();
    expect(await decided()).toBe('ALLOW ALLOWED');
  });

  it('is read by one refresh at a time, and compiled again only when it changed', async () => {
    writeFileSync(path, text('Slowly, a person confirms'));
    const { policies, signers } = test.kernel.context;
    const intervalMs = 2;
    const seen = { compiled: 0, running: 0, most: 0, reloads: 0 };
    const slow = {
      compile: async (bundle: PolicyBundle) => {
        seen.compiled += 1;
        return await policies.compile(bundle);
      },
      reload: async (owner: string) => {
        seen.most = Math.max(seen.most, (seen.running += 1));
        await new Promise((resolve) => setTimeout(resolve, 10 * intervalMs)); // longer than the interval
        await policies.reload(owner);
        seen.running -= 1;
        seen.reloads += 1;
      },
      current: (owner: string) => policies.current(owner),
      stateOf: (owner: string) => policies.stateOf(owner),
      activate: (activation: Parameters<typeof policies.activate>[0]) => policies.activate(activation),
    };
    const sign = (bytes: Uint8Array) => ({
      alg: 'Ed25519' as const,
      key_id: signers.policies.keyId,
      value: encodeBase64Url(signers.policies.sign(bytes)),
    });
    const { clockGuard, log } = test.kernel.context;
    const deps = { path, policies: slow as unknown as typeof policies, sign, clockGuard, log, clock: time.clock };
    const watch = await watchPolicyFile({ ...deps, confirmEveryMs: hourMs, intervalMs });
    await until(() => seen.reloads >= 5);
    await watch.close();
    expect(seen).toMatchObject({ compiled: 1, running: 0, most: 1 });
  });

  it('is activated only once by kernels that start at the same time', async () => {
    writeFileSync(path, text('Asked by file, a person confirms'));
    const before = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === 'system').length;
    const started = await Promise.allSettled([1, 2, 3].map(() => startKernel(byFile(), { clock: time.clock })));
    for (const kernel of started) if (kernel.status === 'fulfilled') await kernel.value.stop();
    expect(started.map(({ status }) => status)).toEqual(Array(3).fill('fulfilled'));
    const { rows } = await test.pool.query(
      `SELECT 1 FROM policy_bundles WHERE tenant_id = '*' AND bundle LIKE '%by file%'`,
    );
    expect(rows).toHaveLength(1);
    const sealed = (await ledgerOf(test, 'policy')).filter(({ payload }) => payload.tenant_id === 'system');
    expect(sealed).toHaveLength(before + 1);
    expect(await decided()).toBe('ALLOW ALLOWED');
  });
});
