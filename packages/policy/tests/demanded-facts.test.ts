import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import {
  compilePolicy,
  destinationNamed,
  egressFact,
  failClosedCodes,
  parsePolicyBundle,
  provenanceFact,
  sandboxFact,
} from '../src/index.ts';

type Bundle = { egress?: string[]; tools?: Record<string, object> };

const policyOf = (members: Bundle) => {
  const bundle = { format: 'countersign/policy.v1', name: 'test', version: '1', rules: [], ...members };
  return compilePolicy(parsePolicyBundle(bundle), nodeProvider);
};
const call = (tool: string | null) => ({ action: 'tool.call', tool, args: {} }) as never; // only these members are read
const none = { state: 'not_applicable' };
const knownFact = (value: object) => ({ state: 'known', value });

describe('the destination of a data.egress', () => {
  it.each<[string | null, string | null]>([
    ['https://api.example.org/v1', 'api.example.org'],
    ['http://API.example.org:8080', 'api.example.org'],
    ['api.example.org', 'api.example.org'],
    ['API.Example.org:443', 'api.example.org'],
    ['https://[::1]/', '[::1]'],
    ['mailto:ada@example.org', null],
    ['a word', null],
    ['api.example.org:123456', null],
    ['', null],
    [null, null],
  ])('is parsed from %j', (resource, host) => {
    expect(destinationNamed(resource)).toEqual({ host });
  });

  const open = policyOf({});
  const narrow = policyOf({ egress: ['*.example.org', 'one.test'] });

  it('is not checked if the bundle lists no destinations, or if the call has none', () => {
    expect(egressFact(null, { host: 'x.test' })).toEqual(none);
    expect(egressFact(open, { host: 'x.test' })).toEqual(none);
    expect(egressFact(narrow, null)).toEqual(none);
  });

  it.each<[string | null, boolean]>([
    ['api.example.org', true],
    ['one.test', true],
    ['example.org.evil.test', false],
    ['two.test', false],
  ])('is compared with the destinations of a bundle: %s', (host, allowed) => {
    expect(egressFact(narrow, { host })).toEqual(knownFact({ destination: host, allowed, detail: host }));
  });

  it('is not allowed if it is unknown, even by a bundle that allows all', () => {
    const everywhere = policyOf({ egress: ['*'] });
    const detail = 'the host is unknown';
    expect(egressFact(everywhere, { host: null })).toEqual(knownFact({ destination: '', allowed: false, detail }));
    expect(egressFact(policyOf({ egress: [] }), { host: 'x.test' })).toMatchObject(knownFact({ allowed: false }));
  });
});

describe('a sandbox', () => {
  const policy = policyOf({
    tools: { 'shell.run': { effect_level: 'E3', sandbox: true }, 'files.read': { effect_level: 'E1' } },
  });
  const required = knownFact({ grant_hash: null, required: true, overgrants: [] });

  it.each(['shell.run', 'SHELL.run', 'shell__run'])('is required for %s', (tool) => {
    expect(sandboxFact(policy, call(tool), null)).toEqual(required);
  });

  it('is not required for tools that do not demand it, nor without a policy', () => {
    expect(sandboxFact(policy, call('files.read'), null)).toEqual(none);
    expect(sandboxFact(policy, call(null), null)).toEqual(none);
    expect(sandboxFact(policyOf({}), call('shell.run'), null)).toEqual(none);
    expect(sandboxFact(null, call('shell.run'), null)).toEqual(none);
  });
});

describe('a call', () => {
  const policy = policyOf({
    tools: { 'pay.now': { effect_level: 'E3', dispatched_by: 'kernel' }, 'files.read': { effect_level: 'E1' } },
  });
  const way = (tool: string, dispatchedBy: 'kernel' | 'caller' | 'nobody', isClaimed = false) =>
    provenanceFact(policy, call(tool), { dispatchedBy, isClaimed });

  it('passes through the boundary if the kernel sends it and has claimed its dispatch', () => {
    expect(way('files.read', 'kernel', true)).toEqual(knownFact({ through_boundary: true }));
    expect(way('files.read', 'kernel', false)).toEqual(knownFact({ through_boundary: false }));
  });

  it('bypasses the boundary if its caller executes a tool that only the kernel may send', () => {
    expect(way('pay.now', 'caller')).toEqual(knownFact({ through_boundary: false }));
    expect(way('Pay__now', 'caller', true)).toEqual(knownFact({ through_boundary: false }));
    expect(way('files.read', 'caller')).toEqual(none);
    expect(way('pay.now', 'nobody')).toEqual(none);
    expect(provenanceFact(null, call('pay.now'), { dispatchedBy: 'caller', isClaimed: false })).toEqual(none);
  });
});

describe('a gate with unavailable facts', () => {
  it('denies with its own code', () => {
    expect(failClosedCodes).toEqual({
      request: 'MALFORMED_ARGUMENTS',
      fence: 'FENCE_UNAVAILABLE',
      policy: 'POLICY_MISSING',
      identity: 'AGENT_UNKNOWN',
      relationship: 'AUTHZ_SNAPSHOT_STALE',
      registry: 'REGISTRY_UNAVAILABLE',
      arguments: 'SCHEMA_VIOLATION',
      scopes: 'INSUFFICIENT_SCOPE',
      sandbox: 'SANDBOX_GRANT_MISSING',
      egress: 'EGRESS_BLOCKED',
      provenance: 'DIRECT_UPSTREAM_BYPASS',
      rules: 'PDP_UNAVAILABLE',
      budget: 'BUDGET_UNAVAILABLE',
      approval: 'APPROVAL_MISMATCH',
    });
  });
});
