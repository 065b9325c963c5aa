import { describe, expect, it } from '@jest/globals';
import { EffectLevel } from '@countersign/contracts';
import { GovernedChange, leastEffectOf, type ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, graverEffect, parsePolicyBundle } from '@countersign/policy';
import { signActivation } from '../src/controls/activations/sign-activation.ts';
import { normalise } from '../src/call/normalise.ts';
import { callOf } from './_batch.ts';
import { refusal } from './_caller.ts';

const declaring = `format: countersign/policy.v1\nname: n\nversion: '1'\nrules: []\ntools: { crm.read: { effect_level: E1 } }\n`;
const policy = compilePolicy(parsePolicyBundle(declaring), nodeProvider);
const hasher = { provider: nodeProvider, saltOf: () => new Uint8Array(32) };

type Input = { action: string; effectLevel?: EffectLevel; tool?: string };
function normalised({ action, effectLevel, tool }: Input) {
  const named = { kind: 'custom', action, tool: tool ?? null, effectLevel } as const;
  return normalise(hasher, callOf({}, named), { resolution: null, policy });
}
const effectOf = (input: Input) => normalised(input).intent.effect_level;

describe('the effect of an action', () => {
  const existing = [...GovernedChange.options, 'model.call', 'agent.spawn', 'connector.invoke', 'data.egress'];

  it.each(existing)('is never below the minimum of %s, even if the caller declares less', (action) => {
    for (const effectLevel of EffectLevel.options)
      expect([effectLevel, effectOf({ action, effectLevel })]).toEqual([
        ...[effectLevel, graverEffect(effectLevel, leastEffectOf(action))],
      ]);
    expect(effectOf({ action })).toBe('E4');
  });

  it('is at least E2 for governed changes, new agents, connector calls and data egress', () => {
    const reads = existing.filter((action) => leastEffectOf(action) < 'E2'); // E0 to E4 sort by severity
    expect(reads).toEqual(['model.call']);
    for (const action of ['fence.lift', 'hold.release', 'workspace.delete', 'data.egress'])
      expect([action, leastEffectOf(action)]).toEqual([action, 'E3']);
  });

  it('is not lowered by a tool that only reads', () => {
    const tool = 'crm.read';
    expect(effectOf({ action: 'tool.call', tool, effectLevel: 'E0' })).toBe('E1');
    expect(effectOf({ action: 'data.egress', tool, effectLevel: 'E0' })).toBe('E3');
    expect(effectOf({ action: 'policy.change', tool, effectLevel: 'E0' })).toBe('E2');
  });

  it("is the level that the caller declares if the action is the tenant's own", () => {
    expect(effectOf({ action: 'report.look', effectLevel: 'E0' })).toBe('E0');
    expect(effectOf({ action: 'report.look' })).toBe('E4');
  });
});

it('a tool call that names no tool has a fault', () => {
  expect(normalised({ action: 'tool.call', effectLevel: 'E0' }).fault).toBe('The call names no tool.');
  expect(normalised({ action: 'tool.call', tool: 'crm.read' }).fault).toBe(null);
  expect(normalised({ action: 'report.look' }).fault).toBe(null);
});

it.each(['E0', 'E1'])(
  'an ALLOW that was sealed with the effect level %s does not lead to a signed activation',
  async (effect_level) => {
    const [policyHash, reportHash] = [`sha256:${'1'.repeat(64)}`, `sha256:${'2'.repeat(64)}`] as never[];
    const resource = `policy/${policyHash}?report=${reportHash}`;
    const allowed = {
      ...{ kind: 'decision', action: 'policy.change', tool: null, verdict: 'ALLOW', shadow: false },
      ...{ principal_id: 'usr_1', resource, effect_level },
    } as unknown as ReceiptPayload; // the members that are read
    // Only `findDecision` is called.
    const deps = { findDecision: () => Promise.resolve(allowed) } as unknown as Parameters<typeof signActivation>[0];
    const request = { tenant: 'acme', decisionId: 'dec_1', policyHash, epoch: 2, reportHash } as never; // matches the schema
    expect(await refusal(signActivation(deps, request))).toBe('DECISION_REFUSED');
  },
);
