import { instantOf } from '@countersign/contracts';
import { encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { eventFactory } from '@countersign/messaging';
import { compilePolicy, evaluateRules, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import { argsCipher } from '../src/controls/approvals/args-cipher.ts';
import { createBoundary, type BoundaryDeps } from '../src/decision/boundary.ts';
import type { CycleSettings } from '../src/decision/conclude-call.ts';
import type { SealedDecision } from '../src/decision/sealed-decision.ts';
import type { GovernedCall } from '../src/call/governed-call.ts';
import { KnownOrgs } from '../src/controls/fences/known-orgs.ts';
import type { Change } from '../src/ledger/control.ts';
import { put } from '../src/ledger/control.ts';
import { GroupCommit } from '../src/ledger/group-commit.ts';
import { Confirmations } from '../src/controls/policy/confirmations.ts';
import type { LoadedPolicy } from '../src/controls/policy/loaded-policy.ts';
import { policyHeads } from '../src/controls/policy/policy-heads.ts';
import { ShadowDrafts } from '../src/controls/policy/shadow-drafts.ts';
import { notAsked } from '../src/controls/relations/relation-source.ts';
import { callOf } from './_batch.ts';
import { MemoryLedger } from './_memory-ledger.ts';

const bundle = `
format: countersign/policy.v1
name: memory
version: '1'
rules:
  - { id: reads, effect: allow, match: { action: [tool.call], tool: [files.*] } }
  - { id: own, effect: allow, match: { action: [model.call, agent.spawn, fence.look] } }
  - { id: asks, effect: escalate, match: { action: [tool.call], tool: [pay.*] }, reason: 'A "person" decides.' }
`;
const signer = createSigner(generateSigningKey().privateKeyPem);
const policy = compilePolicy(parsePolicyBundle(bundle), nodeProvider);
export const policyHash = policy.hash;
export const loaded: LoadedPolicy = { policy, hash: policyHash, epoch: 1 };
export const decidedMs = Date.parse('2026-11-21T10:00:00.000Z');

function headOfAll() {
  const statement = { tenant: '*', epoch: 1, policyHash, confirmedAt: instantOf(decidedMs) };
  const signature = encodeBase64Url(signer.sign(activationBytes(statement)));
  return put(policyHeads, {
    ...{ tenant: '*', epoch: 1, hash: policyHash, confirmedAtMs: decidedMs, keyId: signer.keyId, signature },
  });
}

type Deps = Partial<Omit<BoundaryDeps, 'settings'>> & { settings?: Partial<CycleSettings>; rows?: Change[] };

/** The real decision cycle over rows in memory, with a clock that tests move. */
export function memoryBoundary({ rows = [], settings, ...segments }: Deps = {}) {
  const ledger = new MemoryLedger([headOfAll(), ...rows]);
  const time = { nowMs: decidedMs, risenMs: 1_000 };
  let ulids = 0;
  const never = () => Promise.reject(new Error('not requested'));
  const confirmations = new Confirmations(nodeProvider, [signer]);
  const all: BoundaryDeps = {
    ledger: new GroupCommit((entries) => ledger.commit(entries)),
    policies: { current: () => loaded, reload: never },
    shadows: new ShadowDrafts({ provider: nodeProvider, load: async () => null, log: {} as never }),
    relations: { snapshot: async () => notAsked, reload: never },
    tools: { resolve: () => null, forOneAnswer: () => ({ resolve: () => null }) },
    askRules: evaluateRules,
    hasher: { provider: nodeProvider, saltOf: () => new Uint8Array(32) },
    clock: () => new Date(time.nowMs),
    newUlid: () => `01ARZ3NDEKTSV4RRFFQ69G${String((ulids += 1)).padStart(4, '0')}`,
    ...{ findFencesAround: never, isRevokedCaller: never, isWithdrawnTool: never, orgs: new KnownOrgs() },
    ...segments,
    settings: {
      ...{ provider: nodeProvider, argsCipher: argsCipher('secret'), rosterHash: policyHash, confirmations },
      ...{ policyAgeMaxMs: 1e12, relationsAgeMaxMs: 1_000, priceCurrency: null, dispatchDeadlineMs: 30_000 },
      ...{
        pages: { publicUrl: 'https://kernel.example', consoleUrl: null },
        newEvent: eventFactory({ source: '/governance-kernel' }),
      },
      monotonicMs: () => time.risenMs,
      ...settings,
    },
  };
  return { boundary: createBoundary(all), parts: all, ledger, time, confirmations };
}

/** A call that its caller executes, unless a test overrides this. */
export const governed = (more: object = {}): GovernedCall => ({
  ...callOf(),
  mode: 'enforce',
  dispatchedBy: 'caller',
  ...more,
});

export const saidBy = ({ reply }: SealedDecision) => `${reply.verdict} ${reply.reason_code}`;

/** The content of the latest entry's record. */
export const latestRecord = ({ log }: MemoryLedger) =>
  JSON.parse(log.at(-1)?.recordText ?? 'null') as Record<string, unknown>;
