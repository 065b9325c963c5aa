import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { gateOrder, type GateName } from '@countersign/contracts';
import type { SignedConformanceReport } from '@countersign/contracts/governance-kernel';
import { gates, type GateTable } from '@countersign/policy';
import { verifies } from '@countersign/testkit/verifies';
import { runConformance } from './_conformance.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

/** The gates of the running kernel, which a test breaks and repairs. */
const table: { -readonly [Gate in GateName]: GateTable[Gate] } = { ...gates };
const letPass = (...broken: GateName[]) => {
  Object.assign(table, gates);
  for (const gate of broken) table[gate] = () => ({ outcome: 'pass' });
};

const failedOf = ({ report }: SignedConformanceReport) =>
  report.results.filter(({ outcome }) => outcome === 'failed').map(({ vector_id }) => String(vector_id));

describe('a kernel with a gate that always passes', () => {
  let test: TestKernel;
  beforeAll(async () => {
    test = await startTestKernel({ overrides: { gates: table }, twins: false, unverified: 'its gates are weakened' });
  });
  afterAll(() => test.close());

  const run = (scope: 'full' | 'short') => runConformance(test, scope);

  /** For each gate, a vector that must fail when the gate is broken. */
  const noticedBy: Record<GateName, string> = {
    request: 'fault.arguments-malformed',
    fence: 'fault.system-frozen',
    policy: 'fault.policy-missing',
    identity: 'fault.credentials-missing',
    relationship: 'fault.snapshot-stale',
    registry: 'fault.schema-drift',
    arguments: 'fault.schema-violation',
    scopes: 'fault.scope-missing',
    sandbox: 'fault.sandbox-overgrant',
    egress: 'fault.egress-blocked',
    provenance: 'fault.upstream-bypass',
    rules: 'fault.no-rule',
    budget: 'fault.budget-spent',
    approval: 'fault.approval-of-another',
  };

  verifies(
    'kn.conformance',
    'fails a run for each broken gate, reports the failed vector with its result, and passes after the repair',
    async () => {
      const noticed: GateName[] = [];
      for (const gate of gateOrder) {
        letPass(gate);
        const signed = await run('short');
        expect([gate, signed.report.verdict]).toEqual([gate, 'FAIL']);
        expect(failedOf(signed)).toContain(noticedBy[gate]);
        const seen = signed.report.results.find(({ vector_id }) => vector_id === noticedBy[gate]);
        expect(seen?.detail).toMatch(
          /^expected DENY [A-Z_]+, not executed, saw (ALLOW|DENY|ESCALATE) [A-Z_]+, (not )?executed$/,
        );
        noticed.push(gate);
      }
      expect(noticed).toEqual(gateOrder);
      letPass();
      expect((await run('short')).report.verdict).toBe('PASS');
    },
  );

  it('fails the vectors over HTTP too, at every door that uses the gate', async () => {
    letPass('request', 'fence', 'scopes', 'registry', 'rules', 'budget', 'approval');
    const signed = await run('full');
    letPass();
    const failed = failedOf(signed);
    const skipped = signed.report.results.filter(({ outcome }) => outcome === 'skipped');
    expect(skipped.map(({ vector_id }) => vector_id)).toEqual(['door.chat-no-rule', 'door.chat-fenced']);
    expect(failed).toEqual(
      expect.arrayContaining([
        'door.evaluate-malformed',
        'door.execute-malformed',
        'door.execute-unknown-tool',
        'door.mcp-unknown-tool',
        'door.mcp-fenced',
        'door.evaluate-no-rule',
        'fence.tenant-frozen',
        'fence.throttled',
        'identity.other-tool',
        'budget.calls',
        'block.tool',
        'approval.asked',
      ]),
    );
    const ready = await fetch(`${test.kernel.healthUrl}/health/ready`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { checks: { conformance: 'down' } }]);
  });
});
