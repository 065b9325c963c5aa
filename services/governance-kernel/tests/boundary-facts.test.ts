import { describe, expect, it } from '@jest/globals';
import type { Fact, RegistryFact } from '@countersign/policy';
import { destinationOf, dispatchedBy, learnedOf, type Asker, type KnownCall } from '../src/decision/known-call.ts';
import { registeredTool, registryFact } from '../src/decision/registry-fact.ts';
import { put } from '../src/ledger/control.ts';
import { mcpServers } from '../src/registry/mcp-servers.ts';
import { registry } from '../src/registry/registry.ts';
import type { ToolResolution } from '../src/registry/tool-resolver.ts';
import { batchOf } from './_batch.ts';

const pinned = { pinned_hash: 'one', current_hash: 'one', input_schema: { type: 'object' } };
const approved: RegistryFact = { server_id: 'files', state: 'approved', tool: pinned };
const isKnown = (value: RegistryFact): Fact<RegistryFact> => ({ state: 'known', value });
const registered = (host: string | null): ToolResolution => ({
  ...{ kind: 'registered', tool: 'files.read', effectLevel: null, host },
  registry: isKnown(approved),
});
const lookAlike: ToolResolution = { kind: 'look_alike', serverId: 'files' };
const owned: Asker = { mode: 'enforce', dispatchedBy: 'owner' };
const called: Asker = { mode: 'enforce', dispatchedBy: 'caller' };
const dispatched: Asker = { mode: 'enforce', dispatchedBy: 'kernel', isClaimed: true };
type Intent = KnownCall['intent'];
const intentOf = (named: Partial<Intent>) => ({ action: 'tool.call', tool: null, resource: null, ...named }) as Intent;

describe('a call', () => {
  it.each([
    [owned, null, 'caller'],
    [owned, registered(null), 'nobody'],
    [owned, lookAlike, 'nobody'],
    [called, null, 'caller'],
    [called, registered(null), 'caller'],
    [dispatched, null, 'kernel'],
    [dispatched, registered(null), 'kernel'],
  ] as const)('of %j with the tool %j is dispatched by %s', (asker, resolution, by) => {
    expect(dispatchedBy(asker, resolution)).toBe(by);
  });

  const egress = { action: 'data.egress', resource: 'https://other.example/x' };
  const tooled = { action: 'tool.call', resource: egress.resource };
  it.each([
    ['for a registered tool: the host of its server', egress, registered('mcp.example'), { host: 'mcp.example' }],
    ['for a local program: none', tooled, registered(null), null],
    [
      'for a local program that sends data: the host of its resource',
      egress,
      registered(null),
      { host: 'other.example' },
    ],
    ['for an unregistered tool: none', tooled, null, null],
    ['for data that it sends: the host of its resource', egress, null, { host: 'other.example' }],
    ['for a name that resembles a tool: none', tooled, lookAlike, null],
    [
      'for data with a name that resembles a tool: the host of its resource',
      egress,
      lookAlike,
      { host: 'other.example' },
    ],
  ])('has a destination, %s', (_case, intent, resolution, destination) => {
    expect(destinationOf(intent, resolution)).toEqual(destination);
  });

  const ourselves = isKnown({ server_id: 'countersign', state: 'approved', tool: null });
  const nobody = { state: 'unavailable', detail: 'The name can be mistaken for a different tool' };
  const nothing = { state: 'not_applicable' };
  it.each([
    ['an unregistered tool that the kernel dispatches', 'files.read', dispatched, null, ourselves],
    ['an action of the kernel without a tool', null, dispatched, null, nothing],
    ["a caller's own tool", 'files.read', called, null, nothing],
    ['an action of a caller without a tool', null, called, null, nothing],
    ['a registered tool', 'files.read', dispatched, registered(null), isKnown(approved)],
    ['a registered tool that its caller runs', 'files.read', called, registered(null), isKnown(approved)],
    ['a name that resembles a tool', 'files.read', dispatched, lookAlike, nobody],
  ] as const)('gets its registry fact: %s', (_case, tool, asker, resolution, learned) => {
    expect(learnedOf(intentOf({ tool }), asker, resolution)).toEqual(learned);
  });
});

type Row = Parameters<typeof registry.setsOf>[0];
const row: Row = {
  ...{ serverId: 'files', toolName: 'read', state: 'approved' },
  ...{ pinnedHash: 'one', currentHash: 'one' },
};
const callLearned = (learned: Fact<RegistryFact>, tool: string | null = 'files.read') =>
  ({ intent: intentOf({ tool }), learned, call: {}, serverKey: null, nowMs: 0 }) as KnownCall & { nowMs: number }; // nothing else is read
const judged = (learned: Fact<RegistryFact>, ...rows: Row[]) =>
  registryFact(batchOf(...rows.map((one) => put(registry, one))), callLearned(learned));
const unknown = (detail: string) => ({ state: 'unavailable', detail });

describe('the state of a tool', () => {
  it('is unchanged when the registry has the same state', () => {
    expect(judged(isKnown(approved), row)).toEqual(isKnown(approved));
  });

  it.each(['revoked', 'quarantined', 'expired', 'discovered'] as const)(
    'follows the state of its server: %s',
    (state) => {
      expect(judged(isKnown(approved), { ...row, state })).toEqual(isKnown({ ...approved, state }));
    },
  );

  it.each([
    ['the tool is not registered any more', [], 'The tool is not registered any more'],
    ['the row belongs to another tool', [{ ...row, toolName: 'write' }], 'The tool is not registered any more'],
    ['the pin changed', [{ ...row, pinnedHash: 'two' }], 'The pin changed during the decision'],
    ['the pin was removed', [{ ...row, pinnedHash: null }], 'The pin changed during the decision'],
  ])('is unknown when %s', (_case, rows, detail) => {
    expect(judged(isKnown(approved), ...rows)).toEqual(unknown(detail));
  });

  it('includes a change that another replica has recorded', () => {
    const now = judged(isKnown(approved), { ...row, currentHash: 'two' });
    expect(now).toEqual(isKnown({ ...approved, tool: { ...pinned, current_hash: 'two' } }));
  });

  it.each([
    ['has an expired approval', [{ expiresAtMs: 5 }], 'expired'],
    ['was revoked in the same batch', [{ state: 'revoked' }], 'revoked'],
    ['was deleted', [], 'revoked'],
    ['is still approved', [{ expiresAtMs: 6 }], 'approved'],
  ] as const)('follows the state of its server in the batch, which %s', (_what, servers, state) => {
    const key = { key: 'acme/files', tenant: 'acme', state: 'approved', expiresAtMs: null };
    const tool = put(registry, { ...row, serverId: key.key });
    const batch = batchOf(tool, ...servers.map((server) => put(mcpServers, { ...key, ...server } as never)));
    const call = { ...callLearned(isKnown(approved)), serverKey: key.key, nowMs: 5 };
    expect(registryFact(batch, call)).toEqual(isKnown({ ...approved, state }));
  });

  it('includes a change that only this replica has seen', () => {
    const seen = isKnown({ ...approved, tool: { ...pinned, current_hash: 'three' } });
    expect(judged(seen, row)).toEqual(seen);
  });

  it.each<[string, Fact<RegistryFact>]>([
    ['the state is unavailable', { state: 'unavailable', detail: 'away' }],
    ['no tool is registered', { state: 'not_applicable' }],
    ['the server is not approved', isKnown({ ...approved, state: 'quarantined' })],
    ['the server does not list the tool', isKnown({ ...approved, tool: null })],
  ])('is not changed by rows when %s', (_case, learned) => {
    expect(judged(learned, row)).toEqual(learned);
    expect(registeredTool(callLearned(learned))).toBeUndefined();
  });

  it('is compared with the rows of its tool only', () => {
    expect(registeredTool(callLearned(isKnown(approved)))).toEqual({ serverId: 'files', toolName: 'read' });
    for (const tool of [null, 'files', '.read'])
      expect(registeredTool(callLearned(isKnown(approved), tool))).toBeUndefined();
    const gone = unknown('The tool is not registered any more');
    expect(registryFact(batchOf(put(registry, row)), callLearned(isKnown(approved), 'files'))).toEqual(gone);
  });
});
