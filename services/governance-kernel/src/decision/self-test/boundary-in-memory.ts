import { instantOf } from '@countersign/contracts';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import { createBoundary, type BoundaryDeps } from '../boundary.ts';
import type { Judgeable } from '../conclude-call.ts';
import type { Boundary } from '../sealed-decision.ts';
import { createCommit, type LedgerStore } from '../../ledger/commit.ts';
import type { AnyControl } from '../../ledger/control.ts';
import { GroupCommit } from '../../ledger/group-commit.ts';
import { Confirmations } from '../../controls/policy/confirmations.ts';
import type { LoadedPolicy } from '../../controls/policy/loaded-policy.ts';
import { policyHeads, type PolicyHead } from '../../controls/policy/policy-heads.ts';
import type { ToolResolver } from '../../registry/tool-resolver.ts';
import { memoryStore } from './memory-store.ts';

export type InMemoryDeps = {
  cycle: BoundaryDeps;
  /** A temporary key, so that no published key verifies what is sealed here. */
  signer: Signer;
  controls: readonly AnyControl[];
};

type World = {
  bundle: string;
  /** Changes the input of the gates. */
  spoil(judged: Judgeable): Judgeable;
  /** The rows of the ledger besides the head of the policy, by control. */
  rows?: readonly (readonly [string, readonly unknown[]])[];
  tools?: ToolResolver;
  /** Used instead of the store in memory. */
  store?: LedgerStore;
};

const nobodysTools: ToolResolver = { resolve: () => null, forOneAnswer: () => ({ resolve: () => null }) };

/** The real decision cycle over a ledger in memory, with one bundle for all tenants. */
export function boundaryInMemory({ cycle, signer, controls }: InMemoryDeps, world: World): Boundary {
  const { bundle, spoil, rows = [], tools = nobodysTools } = world;
  const { provider } = cycle.hasher;
  const policy = compilePolicy(parsePolicyBundle(bundle), provider);
  const hash = policy.hash;
  const loaded: LoadedPolicy = { policy, hash, epoch: 1 };
  const head = signedHead(signer, { hash, confirmedAtMs: cycle.clock().getTime() });
  const confirmations = new Confirmations(provider, [signer]);
  const store = world.store ?? memoryStore(new Map([[policyHeads.name, [head]], ...rows]));
  const ledger = new GroupCommit(createCommit({ store, sealer: { provider, signer }, controls }));
  const policies = { current: () => loaded, reload: async () => undefined };
  const shadows = { ...cycle.shadows, current: () => [], reload: async () => undefined };
  const settings = { ...cycle.settings, confirmations, spoil };
  // Decisions of a self-test are not counted.
  return createBoundary({ ...cycle, ledger, policies, shadows, tools, settings, tellDecision: undefined });
}

function signedHead(signer: Signer, statement: Pick<PolicyHead, 'hash' | 'confirmedAtMs'>): PolicyHead {
  const { hash, confirmedAtMs } = statement;
  const bytes = activationBytes({ tenant: '*', epoch: 1, policyHash: hash, confirmedAt: instantOf(confirmedAtMs) });
  return { tenant: '*', epoch: 1, ...statement, keyId: signer.keyId, signature: encodeBase64Url(signer.sign(bytes)) };
}
