import { describe, expect, it } from '@jest/globals';
import type { Fact, RegistryFact } from '@countersign/policy';
import { destinationOf, dispatchedBy, learnedOf, type Asker, type KnownCall } from '../src/boundary/known-call.ts';
import { registeredTool, registryFact } from '../src/boundary/registry-fact.ts';
import { put } from '../src/ledger/control.ts';
import { mcpServers } from '../src/registry/mcp-servers.ts';
import { registry } from '../src/registry/registry.ts';
import type { ToolResolution } from '../src/registry/tool-resolver.ts';
import { batchOf } from './_batch.ts';

const pinned = { pinned_hash: 'one', current_hash: 'one', input_schema: { type: 'object' } };
const approved: RegistryFact = { server_id: 'files', state: 'approved', tool: pinned };
const known = (value: RegistryFact): Fact<RegistryFact> => ({ state: 'known', value });
const registered = (host: string | null): ToolResolution => ({
  ...{ kind: 'registered', tool: 'files.read', effectLevel: null, host },
  registry: known(approved),
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
  ] as const)('is dispatched by the owner of its tool: %j %j', (asker, resolution, by) => {
    expect(dispatchedBy(asker, resolution)).toBe(by);
  });

  const egress = { action: 'data.egress', resource: 'https://other.example/x' };
  const tooled = { action: 'tool.call', resource: egress.resource };
  it.each([
    ['of a registered tool: to its server', egress, registered('mcp.example'), { host: 'mcp.example' }],
    ['of a program on this machine: nowhere', tooled, registered(null), null],
    [
      'of a program on this machine that sends data: where it says',
      egress,
      registered(null),
      { host: 'other.example' },
    ],
    ['of no registered tool: nowhere', tooled, null, null],
    ['that sends data: where it says', egress, null, { host: 'other.example' }],
    ['of what looks like a tool: nowhere', tooled, lookAlike, null],
    ['of what looks like a tool and sends data: where it says', egress, lookAlike, { host: 'other.example' }],
  ])('goes somewhere, %s', (_case, intent, resolution, destination) => {
    expect(destinationOf(intent, resolution)).toEqual(destination);
  });

  const ourselves = known({ server_id: 'countersign', state: 'approved', tool: null });
  const nobody = { state: 'unavailable', detail: 'No server has a tool of this name' };
  const nothing = { state: 'not_applicable' };
  it.each([
    ['an unregistered tool that the kernel is to run', 'files.read', dispatched, null, ourselves],
    ['what the kernel does without a tool', null, dispatched, null, nothing],
    ["a caller's own tool", 'files.read', called, null, nothing],
    ['what a caller does without a tool', null, called, null, nothing],
    ['a registered tool', 'files.read', dispatched, registered(null), known(approved)],
    ['a registered tool that its caller runs', 'files.read', called, registered(null), known(approved)],
    ['what looks like a tool', 'files.read', dispatched, lookAlike, nobody],
  ] as const)('is learned of: %s', (_case, tool, asker, resolution, learned) => {
    expect(learnedOf(intentOf({ tool }), asker, resolution)).toEqual(learned);
  });
});

type Row = Parameters<typeof registry.setsOf>[0];
const row: Row = {
  ...{ serverId: 'files', toolName: 'read', state: 'approved' },
  ...{ pinnedHash: 'one', currentHash: 'one' },
};
const callLearned = (learned: Fact<RegistryFact>, tool: string | null = 'files.read') =>
  ({ intent: intentOf({ tool }), learned, call: {}, serverKey: null, nowMs: 0 }) as KnownCall & { nowMs: number }; // nothing else is looked at
const judged = (learned: Fact<RegistryFact>, ...rows: Row[]) =>
  registryFact(batchOf(...rows.map((one) => put(registry, one))), callLearned(learned));
const unknown = (detail: string) => ({ state: 'unavailable', detail });

describe('what was learned of a tool', () => {
  it('stands when the registry says the same', () => {
    expect(judged(known(approved), row)).toEqual(known(approved));
  });

  it.each(['revoked', 'quarantined', 'expired', 'discovered'] as const)('falls with its server: %s', (state) => {
    expect(judged(known(approved), { ...row, state })).toEqual(known({ ...approved, state }));
  });

  it.each([
    ['its tool is gone', [], 'The tool is not registered any more'],
    ['another tool is there', [{ ...row, toolName: 'write' }], 'The tool is not registered any more'],
    ['the pin is another', [{ ...row, pinnedHash: 'two' }], 'The pin changed during the decision'],
    ['the pin is gone', [{ ...row, pinnedHash: null }], 'The pin changed during the decision'],
  ])('is nothing when %s', (_case, rows, detail) => {
    expect(judged(known(approved), ...rows)).toEqual(unknown(detail));
  });

  it('is what another replica saw since, when the tool has changed', () => {
    const now = judged(known(approved), { ...row, currentHash: 'two' });
    expect(now).toEqual(known({ ...approved, tool: { ...pinned, current_hash: 'two' } }));
  });

  it.each([
    ['has an approval that ended since', [{ expiresAtMs: 5 }], 'expired'],
    ['was revoked in the same batch', [{ state: 'revoked' }], 'revoked'],
    ['is gone', [], 'revoked'],
    ['is approved still', [{ expiresAtMs: 6 }], 'approved'],
  ] as const)('falls with its server as the batch has it, which %s', (_what, servers, state) => {
    const key = { key: 'acme/files', tenant: 'acme', state: 'approved', expiresAtMs: null };
    const tool = put(registry, { ...row, serverId: key.key });
    const batch = batchOf(tool, ...servers.map((server) => put(mcpServers, { ...key, ...server } as never)));
    const call = { ...callLearned(known(approved)), serverKey: key.key, nowMs: 5 };
    expect(registryFact(batch, call)).toEqual(known({ ...approved, state }));
  });

  it('stays what this replica saw, when the registry has seen no change', () => {
    const seen = known({ ...approved, tool: { ...pinned, current_hash: 'three' } });
    expect(judged(seen, row)).toEqual(seen);
  });

  it.each<[string, Fact<RegistryFact>]>([
    ['not known', { state: 'unavailable', detail: 'away' }],
    ['of no registered tool', { state: 'not_applicable' }],
    ['of a server that is not approved', known({ ...approved, state: 'quarantined' })],
    ['that its server lists no such tool', known({ ...approved, tool: null })],
  ])('refuses whatever the rows say: %s', (_case, learned) => {
    expect(judged(learned, row)).toEqual(learned);
    expect(registeredTool(callLearned(learned))).toBeUndefined();
  });

  it('is held against the rows of its tool alone', () => {
    expect(registeredTool(callLearned(known(approved)))).toEqual({ serverId: 'files', toolName: 'read' });
    for (const tool of [null, 'files', '.read'])
      expect(registeredTool(callLearned(known(approved), tool))).toBeUndefined();
    const gone = unknown('The tool is not registered any more');
    expect(registryFact(batchOf(put(registry, row)), callLearned(known(approved), 'files'))).toEqual(gone);
  });
});
