import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, decisionWork, evaluateRules, parsePolicyBundle, type Work } from '@countersign/policy';
import type { AskRules } from '../src/decision/rule-evaluation.ts';
import { governed, loaded, memoryBoundary, saidBy } from './_memory-boundary.ts';

const all = { id: 'all', effect: 'allow' };

/** A boundary that decides by the rules of this bundle. `lefts` contains the remaining work at each evaluation. */
function under(bundle: object) {
  const head = { format: 'countersign/policy.v1', name: 'work', version: '1' };
  const policy = compilePolicy(parsePolicyBundle({ ...head, ...bundle }), nodeProvider);
  const lefts: number[] = [];
  const askRules: AskRules = (request, intent, environment, work: Work) => {
    lefts.push(work.left);
    return evaluateRules(request, intent, environment, work);
  };
  const reservedBy = async () => ({ kind: 'unavailable' }) as const;
  const relations = { snapshot: reservedBy, reload: async () => undefined };
  const policies = {
    current: () => ({ ...loaded, policy: { ...policy, hash: loaded.hash } }),
    reload: async () => undefined,
  };
  return { ...memoryBoundary({ policies, relations, askRules }), lefts };
}

describe('the work that remains for the rules of a decision', () => {
  const full = decisionWork().left;

  it('is reduced by comparing the tool name with the restricted names', async () => {
    const tool = Array.from({ length: 100 }, (_, nth) => `*${'a'.repeat(100)}${nth}`);
    const restricting = under({ rules: [all, { id: 'no', effect: 'deny', match: { tool } }] });
    await restricting.boundary.decide(governed({ tool: 'a'.repeat(200) }));
    const [rest = full] = restricting.lefts;
    expect(full - rest).toBeGreaterThan((100 * 100) / 16);
    const plain = under({ rules: [all] });
    await plain.boundary.decide(governed({ tool: 'a'.repeat(200) }));
    expect(full - (plain.lefts[0] ?? 0)).toBeLessThan(200);
  });

  it('is reduced, down to nothing, by comparing hosted tools with those that need a relation', async () => {
    const tool = Array.from({ length: 100 }, (_, nth) => `*${'a'.repeat(60)}${nth}`);
    const required = { action: ['agent.spawn'], tool };
    const relations = { viewer: { object: 'file:a', relation: 'viewer', subject: 'agent:b', required } };
    const requiring = under({ rules: [all], relations });
    const hosting = (count: number) => {
      const hosted_tools = Array.from({ length: count }, () => 'a'.repeat(62));
      const call = { kind: 'model', model: 'm', tool: undefined, args: { hosted_tools } };
      return requiring.boundary.decide(governed(call));
    };
    expect(saidBy(await hosting(1_000))).toBe('ALLOW ALLOWED');
    expect(saidBy(await hosting(50_000))).toBe('DENY AUTHZ_SNAPSHOT_STALE');
    expect(requiring.lefts[0]).toBeGreaterThan(0);
    expect(requiring.lefts[1]).toBe(0);
  });
});
