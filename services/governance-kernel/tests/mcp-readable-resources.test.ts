import { PrincipalId, TenantId } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { expect, it } from '@jest/globals';
import { readableResources } from '../src/doors/mcp/readable-resources.ts';

const policy = compilePolicy(
  parsePolicyBundle(`
format: countersign/policy.v1
name: readable
version: '1'
rules:
  - { id: vault, effect: deny, match: { resource: ['file:///vault/*'] } }
  - { id: all, effect: allow, match: { action: [tool.call] } }
`),
  nodeProvider,
);
const caller = { tenant: TenantId.parse('acme'), principal: PrincipalId.parse('agent') } as never; // no other member is read
const subscribed = (serverId: string, uri: string) => ({ address: `${serverId}+${uri}`, serverId, uri });
const subscriptions = [
  subscribed('files', 'file:///notes'),
  subscribed('files', 'file:///vault/key'),
  subscribed('hidden', 'file:///notes'),
];
const fenceOn = (scope: string, kind = 'freeze') => ({ scope, kind, expiresAtMs: null }) as never; // as above

async function readable({ fences = [], active = { policy } as never }: { fences?: never[]; active?: never } = {}) {
  const deps = {
    activePolicy: () => Promise.resolve(active),
    findFences: () => Promise.resolve(fences),
    now: () => 0,
  };
  return [...(await readableResources(deps, caller, { servers: new Set(['files']), subscriptions }))];
}

it('a resource is readable if its server is listed and no rule denies it', async () => {
  expect(await readable()).toEqual(['files+file:///notes']);
});

it.each(['system', 'org:one', 'tenant:acme', 'agent:acme/agent'])('a fence on %s stops all reads', async (scope) => {
  expect(await readable({ fences: [fenceOn(scope)] })).toEqual([]);
  expect(await readable({ fences: [fenceOn(scope, 'open')] })).toHaveLength(1);
});

it('nothing is readable without an active policy', async () => {
  expect(await readable({ active: null as never })).toEqual([]);
});
