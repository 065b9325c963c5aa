import { describe, expect, it } from '@jest/globals';
import type { AccessKeyId } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';
import { accessKeys, type AccessKeyRow } from '../src/controls/access-keys/access-keys.ts';
import type { KnownCall } from '../src/decision/known-call.ts';
import { isStopped } from '../src/decision/stopped.ts';
import type { FenceScope } from '@countersign/contracts/governance-kernel';
import type { FenceRow } from '../src/controls/fences/fence-row.ts';
import { fences } from '../src/controls/fences/fences.ts';
import { fenceSets } from '../src/controls/fences/in-force.ts';
import { identities, newIdentity } from '../src/controls/identities/identities.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { registry } from '../src/registry/registry.ts';
import { toolBlocks } from '../src/controls/policy/tool-blocks.ts';
import { acme, agent, batchOf, callOf } from './_batch.ts';

const nowMs = 1_000_000;
const key = 'key' as AccessKeyId; // matches the schema

const keyRow: AccessKeyRow = {
  ...{ id: key, tenant: acme, principal: agent, kind: 'agent', doors: [], tools: null },
  ...{ prefix: 'cs', secretHash: '', expiresAtMs: nowMs + 1, createdAtMs: 0, createdBy: agent, revokedAtMs: null },
};
const keyed = (change: Partial<AccessKeyRow>) => put(accessKeys, { ...keyRow, ...change });

const fenced = (kind: FenceRow['kind'], scope = 'tenant:acme'): Change => {
  const set = { reason: '', epoch: 1, effectiveAtMs: 0, expiresAtMs: null, setBy: agent };
  const throttle = { callLimit: 1, windowSeconds: 60, callsTaken: 1, windowEndsAtMs: null, revision: 1 };
  return put(fences, { ...set, ...throttle, kind, scope: scope as FenceScope }); // matches the schema
};

const enrolled = (revokedAtMs: number | null): Change => {
  const identity = newIdentity(
    { tenant: acme, kind: 'agent', principal: agent },
    { ulid: '', by: agent, nowMs: 0, displayName: '' },
  );
  return put(identities, { ...identity, revokedAtMs });
};
const blocked = (...tools: string[]) => put(toolBlocks, { tenant: acme, version: 1, tools, updatedAtMs: 0 });

const pinned = { pinned_hash: 'one', current_hash: 'one', input_schema: {} };
const learnedOf = (state: RegistryFact['state'], tool: RegistryFact['tool'] = pinned): Fact<RegistryFact> => ({
  state: 'known',
  value: { server_id: 'files', state, tool },
});
const registered = (currentHash = 'one') =>
  put(registry, { serverId: 'files', toolName: 'read', state: 'approved', pinnedHash: 'one', currentHash });

type Situation = { learned?: Fact<RegistryFact>; accessKey?: AccessKeyId };
function isToldAgain({ learned = { state: 'not_applicable' }, accessKey }: Situation, ...rows: Change[]): boolean {
  const call = callOf(accessKey === undefined ? {} : { accessKey });
  const intent = { action: 'tool.call', tool: 'files.read', resource: null, args: {} };
  const sets = { fenceSets: fenceSets(call, intent, null) };
  const existing = { call, intent, org: null, ...sets, learned, serverKey: null } as unknown as KnownCall; // nothing else is read
  return !isStopped(batchOf(...rows), existing, nowMs);
}

describe('an earlier answer', () => {
  it.each<[string, Situation, Change[]]>([
    ['no stop is in force', {}, []],
    ['a throttle has no calls left', {}, [fenced('throttle')]],
    ['its fence was opened', {}, [fenced('open')]],
    ['its agent is enrolled', {}, [enrolled(null)]],
    ['its key is valid', { accessKey: key }, [keyed({})]],
    ['its key is for this tool', { accessKey: key }, [keyed({ tools: ['files.list', 'files.read'] })]],
    ['its tool is unchanged since its approval', { learned: learnedOf('approved') }, [registered()]],
    ['its server does not list the tool', { learned: learnedOf('approved', null) }, []],
    ['its server does not list its tools', { learned: { state: 'unavailable', detail: 'away' } }, []],
    ['another tool is blocked', {}, [blocked('files.list')]],
  ])('is repeated when %s', (_case, situation, rows) => {
    expect(isToldAgain(situation, ...rows)).toBe(true);
  });

  it.each<[string, Situation, Change[]]>([
    ['a fence is in force', {}, [fenced('freeze')]],
    ['its agent was revoked', {}, [enrolled(1)]],
    ['its key was deleted', { accessKey: key }, []],
    ['its key was revoked', { accessKey: key }, [keyed({ revokedAtMs: 1 })]],
    ['its key has expired', { accessKey: key }, [keyed({ expiresAtMs: nowMs })]],
    ['its key is for other tools', { accessKey: key }, [keyed({ tools: ['files.list'] })]],
    ['its server is in quarantine', { learned: learnedOf('quarantined') }, []],
    ['its server was revoked', { learned: learnedOf('revoked') }, []],
    ['its tool changed', { learned: learnedOf('approved', { ...pinned, current_hash: 'two' }) }, [registered()]],
    ['another replica saw that its tool changed', { learned: learnedOf('approved') }, [registered('two')]],
    ['its tool is blocked', {}, [blocked('files.read')]],
  ])('is not repeated when %s', (_case, situation, rows) => {
    expect(isToldAgain(situation, ...rows)).toBe(false);
  });

  it('is not repeated when a freeze is in force in addition to a throttle', () => {
    expect(isToldAgain({}, fenced('throttle', 'system'), fenced('freeze'))).toBe(false);
  });

  it('is not repeated to a key that is for one tool of a call and not for the other', () => {
    const rows = [keyed({ tools: ['web_search'] })];
    const args = { hosted_tools: ['web_search', 'code_interpreter'] };
    const intent = { action: 'model.call', tool: null, resource: 'm', args };
    const call = callOf({ accessKey: key });
    const sets = { fenceSets: fenceSets(call, intent, null) };
    const existing = { call, intent, org: null, ...sets, learned: { state: 'not_applicable' } } as unknown as KnownCall; // nothing else is read
    expect(isStopped(batchOf(...rows), existing, nowMs)).toBe(true);
  });
});
