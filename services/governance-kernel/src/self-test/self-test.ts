import { gateOrder, type GateName, type PrincipalId, type SessionId, type TenantId } from '@countersign/contracts';
import type { Judgeable } from '../boundary/conclude-call.ts';
import type { GovernedCall } from '../call/governed-call.ts';
import type { Boundary } from '../boundary/sealed-decision.ts';
import { boundaryInMemory, type InMemoryParts } from './boundary-in-memory.ts';
import { faults } from './faults.ts';

type SelfTestParts = InMemoryParts & {
  /** Made after the gates were seen to hold, so that the first caller meets a warm kernel. */
  decisions: number;
};

/** The results at the start of the process. */
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
  const boundary = boundaryInMemory(parts, { bundle, spoil: (judged) => spoil(judged) });
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

async function expectVerdict(boundary: Boundary, what: string, { said, tool }: { said: string; tool: string }) {
  const { reply } = await boundary.decide(callOf(tool, 'self-test'));
  const seen = `${reply.verdict} ${reply.reason_code}`;
  if (seen !== said)
    throw new Error(`The self-test of "${what}" saw ${seen} instead of ${said}; the kernel does not start`);
}

/** The number of simultaneous decisions of a busy kernel, so that the code for one and for many is compiled. */
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
