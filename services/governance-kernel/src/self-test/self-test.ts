import {
  gateOrder,
  type Digest,
  type GateName,
  type PrincipalId,
  type SessionId,
  type TenantId,
} from '@countersign/contracts';
import { encodeBase64Url, type Signer } from '@countersign/crypto';
import { compilePolicy, parsePolicyBundle } from '@countersign/policy';
import { activationBytes } from '@countersign/receipts';
import { createBoundary, type BoundaryParts } from '../boundary/boundary.ts';
import type { Judgeable } from '../boundary/conclude-call.ts';
import type { GovernedCall } from '../call/governed-call.ts';
import type { Boundary } from '../boundary/sealed-decision.ts';
import { createCommit } from '../ledger/commit.ts';
import type { AnyControl } from '../ledger/control.ts';
import { GroupCommit } from '../ledger/group-commit.ts';
import { instantOf } from '../policy/activation.ts';
import { Confirmations } from '../policy/confirmations.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { policyHeads, type PolicyHead } from '../policy/policy-heads.ts';
import { faults } from './faults.ts';
import { memoryStore } from './memory-store.ts';

type SelfTestParts = {
  cycle: BoundaryParts;
  /** Made for this and thrown away: nothing that is sealed here may verify anywhere. */
  signer: Signer;
  controls: readonly AnyControl[];
  /** Made after the gates were seen to hold, so that the first caller meets a warm kernel. */
  decisions: number;
};

/** What was seen at the start of the process. */
export type SelfTest = { readonly denying: readonly GateName[]; readonly decisions: number };

const bundle = `
format: countersign/policy.v1
name: self-test
version: '1'
rules:
  - { id: allowed, effect: allow, match: { action: [tool.call], tool: [allowed.*, ask.*] } }
  - { id: asks, effect: escalate, match: { action: [tool.call], tool: [ask.*] }, reason: A person decides. }
`;

/**
 * The real decision cycle on a ledger in memory: a call that nothing is wrong with is allowed, and every gate is seen to deny its
 * fault with its code. Throws, naming the gate, when one does not: a kernel that would let it pass does not start.
 */
export async function runSelfTest(parts: SelfTestParts): Promise<SelfTest> {
  let spoil = (judged: Judgeable) => judged;
  const boundary = boundaryInMemory(parts, (judged) => spoil(judged));
  await expectVerdict(boundary, 'healthy', { said: 'ALLOW ALLOWED', tool: 'allowed.tool' });
  for (const gate of gateOrder) {
    const fault = faults[gate];
    spoil = fault.spoil;
    await expectVerdict(boundary, gate, { said: `DENY ${fault.code}`, tool: fault.tool ?? 'allowed.tool' });
  }
  spoil = (judged) => judged;
  await warmUp(boundary, parts.decisions);
  return { denying: gateOrder, decisions: parts.decisions };
}

function boundaryInMemory(
  { cycle, signer, controls }: SelfTestParts,
  spoil: (judged: Judgeable) => Judgeable,
): Boundary {
  const { provider } = cycle.hasher;
  const policy = compilePolicy(parsePolicyBundle(bundle), provider);
  const hash = policy.hash as Digest; // compilePolicy hashes with digestOf
  const loaded: LoadedPolicy = { policy, hash, epoch: 1 };
  const head = signedHead(signer, { hash, confirmedAtMs: cycle.clock().getTime() });
  const confirmations = new Confirmations(provider, [signer]);
  const store = memoryStore(new Map([[policyHeads.name, [head]]]));
  const ledger = new GroupCommit(createCommit({ store, sealer: { provider, signer }, controls }));
  const policies = { current: () => loaded, reload: async () => undefined };
  const nobodysTools = { resolve: () => null };
  const tools = { ...nobodysTools, forOneAnswer: () => nobodysTools };
  return createBoundary({ ...cycle, ledger, policies, tools, settings: { ...cycle.settings, confirmations, spoil } });
}

function signedHead(signer: Signer, said: Pick<PolicyHead, 'hash' | 'confirmedAtMs'>): PolicyHead {
  const { hash, confirmedAtMs } = said;
  const bytes = activationBytes({ tenant: '*', epoch: 1, policyHash: hash, confirmedAt: instantOf(confirmedAtMs) });
  return { tenant: '*', epoch: 1, ...said, keyId: signer.keyId, signature: encodeBase64Url(signer.sign(bytes)) };
}

async function expectVerdict(boundary: Boundary, what: string, { said, tool }: { said: string; tool: string }) {
  const { reply } = await boundary.decide(callOf(tool, 'self-test'));
  const seen = `${reply.verdict} ${reply.reason_code}`;
  if (seen !== said)
    throw new Error(`The self-test of "${what}" saw ${seen} instead of ${said}; the kernel does not start`);
}

/** As many at once as a busy kernel has, so that the code for one and for many is compiled. */
async function warmUp(boundary: Boundary, decisions: number): Promise<void> {
  const atOnce = 32;
  for (let made = 0; made < decisions; made += atOnce)
    await Promise.all(
      Array.from({ length: Math.min(atOnce, decisions - made) }, (_, nth) =>
        boundary.decide(callOf('allowed.tool', `warm-up-${nth}`)),
      ),
    );
}

function callOf(tool: string, session: string): GovernedCall {
  return {
    caller: {
      tenant: 'self-test' as TenantId,
      principal: 'self-test' as PrincipalId, // within their schemas
      identity: { kind: 'operator_credential' },
      scopes: [],
    },
    session: session as SessionId, // within its schema
    kind: 'tool',
    tool,
    resource: null,
    args: { path: 'notes/today.md', amount: 3 },
    context: {},
    mode: 'enforce',
    dispatchedBy: 'caller',
  };
}
