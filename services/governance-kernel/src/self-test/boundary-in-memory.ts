import type { Digest } from '@countersign/contracts';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import { createBoundary, type BoundaryParts } from '../boundary/boundary.ts';
import type { Judgeable } from '../boundary/conclude-call.ts';
import type { Boundary } from '../boundary/sealed-decision.ts';
import { createCommit, type LedgerStore } from '../ledger/commit.ts';
import type { AnyControl } from '../ledger/control.ts';
import { GroupCommit } from '../ledger/group-commit.ts';
import { instantOf } from '../policy/activation.ts';
import { Confirmations } from '../policy/confirmations.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { policyHeads, type PolicyHead } from '../policy/policy-heads.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import { memoryStore } from './memory-store.ts';

export type InMemoryParts = {
  cycle: BoundaryParts;
  /** Made for this and thrown away: nothing that is sealed here may verify anywhere. */
  signer: Signer;
  controls: readonly AnyControl[];
};

type World = {
  bundle: string;
  /** Changes what the gates judge. */
  spoil(judged: Judgeable): Judgeable;
  /** The rows of the ledger beside the head of the policy, by control. */
  rows?: readonly (readonly [string, readonly unknown[]])[];
  tools?: ToolResolver;
  /** In place of one that forgets. */
  store?: LedgerStore;
};

const nobodysTools: ToolResolver = { resolve: () => null, forOneAnswer: () => ({ resolve: () => null }) };

/** The real decision cycle over a ledger in memory, under one bundle for everybody. */
export function boundaryInMemory({ cycle, signer, controls }: InMemoryParts, world: World): Boundary {
  const { bundle, spoil, rows = [], tools = nobodysTools } = world;
  const { provider } = cycle.hasher;
  const policy = compilePolicy(parsePolicyBundle(bundle), provider);
  const hash = policy.hash as Digest; // compilePolicy hashes with digestOf
  const loaded: LoadedPolicy = { policy, hash, epoch: 1 };
  const head = signedHead(signer, { hash, confirmedAtMs: cycle.clock().getTime() });
  const confirmations = new Confirmations(provider, [signer]);
  const store = world.store ?? memoryStore(new Map([[policyHeads.name, [head]], ...rows]));
  const ledger = new GroupCommit(createCommit({ store, sealer: { provider, signer }, controls }));
  const policies = { current: () => loaded, reload: async () => undefined };
  const shadows = { ...cycle.shadows, current: () => [], reload: async () => undefined };
  const settings = { ...cycle.settings, confirmations, spoil };
  // Decisions for a proof are not counted.
  return createBoundary({ ...cycle, ledger, policies, shadows, tools, settings, tellDecision: undefined });
}

function signedHead(signer: Signer, said: Pick<PolicyHead, 'hash' | 'confirmedAtMs'>): PolicyHead {
  const { hash, confirmedAtMs } = said;
  const bytes = activationBytes({ tenant: '*', epoch: 1, policyHash: hash, confirmedAt: instantOf(confirmedAtMs) });
  return { tenant: '*', epoch: 1, ...said, keyId: signer.keyId, signature: encodeBase64Url(signer.sign(bytes)) };
}
