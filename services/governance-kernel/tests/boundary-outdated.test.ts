import { describe, expect, it } from '@jest/globals';
import type { Digest } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import type { BoundaryDeps } from '../src/decision/boundary.ts';
import { KnownOrgs } from '../src/controls/fences/known-orgs.ts';
import { put } from '../src/ledger/control.ts';
import type { LoadedLane } from '../src/controls/policy/shadow-drafts.ts';
import { toolBlocks } from '../src/controls/policy/tool-blocks.ts';
import { acme } from './_batch.ts';
import { governed, loaded, memoryBoundary, saidBy } from './_memory-boundary.ts';

/** A state in memory that is outdated in the first `times` attempts, and counts its reloads. */
function outdated(times: number) {
  const count = { reloads: 0 };
  const reload = async () => void (count.reloads += 1);
  return { count, reload, isOld: () => count.reloads < times };
}
type Outdated = ReturnType<typeof outdated>;

const relations = { sees: { object: 'file:{args.id}', relation: 'viewer', subject: 'user:{principal}' } };
const rules = [{ id: 'viewers', effect: 'allow', when: 'relations.sees' }];
const related = { format: 'countersign/policy.v1', name: 'related', version: '1', rules, relations };
const readsRelations = compilePolicy(parsePolicyBundle(JSON.stringify(related)), nodeProvider);

const orgsOf = ({ count, isOld }: Outdated): KnownOrgs => {
  const orgs = new KnownOrgs();
  orgs.of = () => (isOld() ? ('other' as OrgId) : null);
  orgs.learn = () => void (count.reloads += 1);
  return orgs;
};

const states: [string, (state: Outdated) => Partial<BoundaryDeps>][] = [
  ['The organisation of the tenant', (state) => ({ orgs: orgsOf(state) })],
  [
    'The MCP servers',
    ({ reload, isOld }) => ({
      tools: {
        resolve: () => null,
        forOneAnswer: () => ({ resolve: () => null }),
        versionOf: () => (isOld() ? 'old' : ''),
        reload,
      },
    }),
  ],
  ['The policy', ({ reload, isOld }) => ({ policies: { current: () => (isOld() ? null : loaded), reload } })],
  [
    'The relations',
    ({ reload, isOld }) => ({
      policies: { current: () => ({ ...loaded, policy: readsRelations }), reload: async () => undefined },
      relations: {
        snapshot: async () => {
          const hash = isOld() ? (`sha256:${'0'.repeat(64)}` as Digest) : null;
          return { kind: 'read', hash, relations: {}, required: [] };
        },
        reload,
      },
    }),
  ],
];

describe('a decision', () => {
  it.each(states)('is repeated until it used the current state: %s', async (_name, depsOf) => {
    const state = outdated(9);
    const { boundary, ledger } = memoryBoundary(depsOf(state));
    expect(saidBy(await boundary.decide(governed()))).toMatch(/^(ALLOW|DENY)/);
    expect([state.count.reloads, ledger.batches.length, ledger.log.length]).toEqual([9, 10, 1]);
  });

  it.each(states)('is refused after ten attempts, and nothing is sealed: %s', async (name, depsOf) => {
    const state = outdated(10);
    const { boundary, ledger } = memoryBoundary(depsOf(state));
    await expect(boundary.decide(governed())).rejects.toMatchObject({
      code: 'RECEIPT_STORE_UNAVAILABLE',
      message: `${name} changed too often during the request, so nothing was executed. Try again`,
    });
    expect([state.count.reloads, ledger.batches.length, ledger.log]).toEqual([9, 10, []]);
  });

  it('counts the attempts of all states together', async () => {
    const [policy, organisation] = [outdated(5), outdated(5)];
    const policies = { current: () => (policy.isOld() ? null : loaded), reload: policy.reload };
    const { boundary, ledger } = memoryBoundary({ policies, orgs: orgsOf(organisation) });
    await expect(boundary.decide(governed())).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
    expect(ledger.log).toEqual([]);
  });

  it('reloads drafts once, and then waits for none', async () => {
    const lane = { row: { lane: 'a', hash: loaded.hash, sinceMs: 0 }, policy: null, failures: 0 } as LoadedLane;
    const reloaded: string[] = [];
    const source = {
      current: () => [lane],
      reload: async (tenant: string) => void reloaded.push(tenant),
      isSuspended: () => false,
      noteFailure: () => undefined,
      noteSuccess: () => undefined,
    };
    const { boundary, ledger } = memoryBoundary({ shadows: source });
    expect(saidBy(await boundary.decide(governed()))).toBe('ALLOW ALLOWED');
    expect([reloaded, ledger.batches.length]).toEqual([[acme], 2]);
  });
});

describe('states on which only a new decision rests', () => {
  const never = () => Promise.reject(new Error('not requested'));

  it('are not compared before an answer is replayed', async () => {
    let current: typeof loaded | null = loaded;
    const { boundary } = memoryBoundary({ policies: { current: () => current, reload: never } });
    const keyed = governed({ idempotency: { key: 'key', route: 'evaluate', fingerprint: 'print' } });
    await boundary.decide(keyed);
    current = null;
    expect((await boundary.decide(keyed)).replayed).toBe(true);
  });

  it('are not compared for a released call without a stop, and are for its refusal', async () => {
    const released = memoryBoundary({ policies: { current: () => null, reload: never } });
    expect(await released.boundary.refuseStopped([governed()])).toEqual([null]);
    const state = outdated(1);
    const policies = { current: () => (state.isOld() ? null : loaded), reload: state.reload };
    const blocked = put(toolBlocks, { tenant: acme, version: 1, tools: ['files.read'], updatedAtMs: 0 });
    const { boundary, ledger } = memoryBoundary({ policies, rows: [blocked] });
    const [refusal] = await boundary.refuseStopped([governed()]);
    expect([refusal && saidBy(refusal), state.count.reloads, ledger.log.length]).toEqual(['DENY TOOL_BLOCKED', 1, 1]);
  });
});
