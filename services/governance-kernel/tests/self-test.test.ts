import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gateOrder, type GateName } from '@countersign/contracts';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import { controls } from '../src/controls.ts';
import { runSelfTest } from '../src/decision/self-test/self-test.ts';
import { faults } from '../src/decision/self-test/faults.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_SELF_TEST_DECISIONS: '100' } });
});
afterAll(() => test.close());

const signer = createSigner(generateSigningKey().privateKeyPem);

describe('the self-test before a kernel is ready', () => {
  it('proves that every gate can deny, and reports it in the health endpoint', async () => {
    expect(test.kernel.context.selfTest).toEqual({ denying: gateOrder, decisions: 100 });
    const ready = await fetch(`${test.kernel.healthUrl}/health/ready`);
    expect(await ready.json()).toMatchObject({ checks: { gates: 'up' } });
  });

  it('leaves nothing in the ledger', async () => {
    const { rows } = await test.pool.query(`SELECT count(*)::int AS held FROM ledger WHERE tenant_id = 'self-test'`);
    expect(rows).toEqual([{ held: 0 }]);
  });

  // In this test, the fault does not reach the gate. The gate therefore passes, and the self-test must notice that.
  verifies('kn.gates', 'stops the start for each gate that does not deny its fault', async () => {
    const { cycle } = test.kernel.context;
    const passing: GateName[] = [];
    for (const gate of gateOrder) {
      const { spoil, tool } = faults[gate];
      Object.assign(faults[gate], { spoil: (judged: unknown) => judged, tool: 'allowed.tool' });
      const started = runSelfTest({ cycle, signer, controls, decisions: 0 });
      await expect(started).rejects.toThrow(`The self-test of "${gate}" saw ALLOW ALLOWED`);
      Object.assign(faults[gate], { spoil, tool });
      passing.push(gate);
    }
    expect(passing).toEqual(gateOrder);
    await expect(runSelfTest({ cycle, signer, controls, decisions: 0 })).resolves.toMatchObject({ denying: gateOrder });
  });
});
