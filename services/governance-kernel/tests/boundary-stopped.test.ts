import { describe, expect, it } from '@jest/globals';
import type { AccessKeyId } from '@countersign/contracts';
import type { Fact, RegistryFact } from '@countersign/policy';
import { accessKeys, type AccessKeyRow } from '../src/access-keys/access-keys.ts';
import type { KnownCall } from '../src/boundary/known-call.ts';
import { isStopped } from '../src/boundary/stopped.ts';
import type { FenceScope } from '@countersign/contracts/governance-kernel';
import type { FenceRow } from '../src/fences/fence-row.ts';
import { fences } from '../src/fences/fences.ts';
import { identities, newIdentity } from '../src/identities/identities.ts';
import { put, type Change } from '../src/ledger/control.ts';
import { registry } from '../src/registry/registry.ts';
import { toolBlocks } from '../src/policy/tool-blocks.ts';
import { acme, agent, batchOf, callOf } from './_batch.ts';

const nowMs = 1_000_000;
const key = 'key' as AccessKeyId; // within its schema

const keyRow: AccessKeyRow = {
  ...{ id: key, tenant: acme, principal: agent, kind: 'agent', doors: [], tools: null },
  ...{ prefix: 'cs', secretHash: '', expiresAtMs: nowMs + 1, createdAtMs: 0, createdBy: agent, revokedAtMs: null },
};
const keyed = (change: Partial<AccessKeyRow>) => put(accessKeys, { ...keyRow, ...change });

const fenced = (kind: FenceRow['kind'], scope = 'tenant:acme'): Change => {
  const set = { reason: '', epoch: 1, effectiveAtMs: 0, expiresAtMs: null, setBy: agent };
  const throttle = { callLimit: 1, windowSeconds: 60, callsTaken: 1, windowEndsAtMs: null, revision: 1 };
  return put(fences, { ...set, ...throttle, kind, scope: scope as FenceScope }); // within its schema
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
  const known = { call, intent, org: null, learned, serverKey: null } as unknown as KnownCall; // nothing else is looked at
  return !isStopped(batchOf(...rows), known, nowMs);
}

describe('an answer that was given before', () => {
  it.each<[string, Situation, Change[]]>([
    ['there was no stop', {}, []],
    ['a throttle has let through all that it lets through', {}, [fenced('throttle')]],
    ['its fence was opened', {}, [fenced('open')]],
    ['its agent is enrolled', {}, [enrolled(null)]],
    ['its key is good', { accessKey: key }, [keyed({})]],
    ['its key is for this tool', { accessKey: key }, [keyed({ tools: ['files.list', 'files.read'] })]],
    ['its tool is the one that was approved', { learned: learnedOf('approved') }, [registered()]],
    ['its server lists no such tool', { learned: learnedOf('approved', null) }, []],
    ['its server does not list its tools', { learned: { state: 'unavailable', detail: 'away' } }, []],
    ['another tool is blocked', {}, [blocked('files.list')]],
  ])('is told again when %s', (_case, situation, rows) => {
    expect(isToldAgain(situation, ...rows)).toBe(true);
  });

  it.each<[string, Situation, Change[]]>([
    ['a fence stands', {}, [fenced('freeze')]],
    ['its agent was revoked', {}, [enrolled(1)]],
    ['its key is gone', { accessKey: key }, []],
    ['its key was revoked', { accessKey: key }, [keyed({ revokedAtMs: 1 })]],
    ['its key has expired', { accessKey: key }, [keyed({ expiresAtMs: nowMs })]],
    ['its key is for other tools', { accessKey: key }, [keyed({ tools: ['files.list'] })]],
    ['its server is in quarantine', { learned: learnedOf('quarantined') }, []],
    ['its server was revoked', { learned: learnedOf('revoked') }, []],
    [
      'its tool has become another',
      { learned: learnedOf('approved', { ...pinned, current_hash: 'two' }) },
      [registered()],
    ],
    ['another replica saw its tool become another', { learned: learnedOf('approved') }, [registered('two')]],
    ['its tool is blocked', {}, [blocked('files.read')]],
  ])('is not told again when %s', (_case, situation, rows) => {
    expect(isToldAgain(situation, ...rows)).toBe(false);
  });

  it('is not told again when a fence stands beside a throttle', () => {
    expect(isToldAgain({}, fenced('throttle', 'system'), fenced('freeze'))).toBe(false);
  });

  it('is not told again to a key that is for one of the tools of a call and not for the other', () => {
    const rows = [keyed({ tools: ['web_search'] })];
    const args = { hosted_tools: ['web_search', 'code_interpreter'] };
    const intent = { action: 'model.call', tool: null, resource: 'm', args };
    const call = callOf({ accessKey: key });
    const known = { call, intent, org: null, learned: { state: 'not_applicable' } } as unknown as KnownCall; // nothing else is looked at
    expect(isStopped(batchOf(...rows), known, nowMs)).toBe(true);
  });
});
