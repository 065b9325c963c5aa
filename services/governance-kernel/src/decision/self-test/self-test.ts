import { gateOrder, type GateName, PrincipalId, type SessionId, TenantId } from '@countersign/contracts';
import type { Judgeable } from '../conclude-call.ts';
import type { GovernedCall } from '../../call/governed-call.ts';
import type { Boundary } from '../sealed-decision.ts';
import { boundaryInMemory, type InMemoryDeps } from './boundary-in-memory.ts';
import { faults } from './faults.ts';

type SelfTestDeps = InMemoryDeps & {
  /** The number of decisions to make after the test of the gates, so that the first caller finds a warm kernel. */
  decisions: number;
};

/** The results of the self-test at the start of the process. */
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
 * Runs the real decision cycle on a ledger in memory: a faultless call is allowed, and every gate must deny its fault
 * with its code. Throws with the gate's name otherwise, so a kernel that would permit the fault does not start.
 */
export async function runSelfTest(deps: SelfTestDeps): Promise<SelfTest> {
  let spoil = (judged: Judgeable) => judged;
  const boundary = boundaryInMemory(deps, { bundle, spoil: (judged) => spoil(judged) });
  await expectVerdict(boundary, 'healthy', { expected: 'ALLOW ALLOWED', tool: 'allowed.tool' });
  for (const gate of gateOrder) {
    const fault = faults[gate];
    spoil = fault.spoil;
    await expectVerdict(boundary, gate, { expected: `DENY ${fault.code}`, tool: fault.tool ?? 'allowed.tool' });
  }
  spoil = (judged) => judged;
  await warmUp(boundary, deps.decisions);
  return { denying: gateOrder, decisions: deps.decisions };
}

async function expectVerdict(boundary: Boundary, what: string, { expected, tool }: { expected: string; tool: string }) {
  const { reply } = await boundary.decide(callOf(tool, 'self-test'));
  const seen = `${reply.verdict} ${reply.reason_code}`;
  if (seen !== expected)
    throw new Error(`The self-test of "${what}" saw ${seen} instead of ${expected}; the kernel does not start`);
}

/** Makes decisions, many at once like a busy kernel, so that their code is compiled before the first caller. */
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
      tenant: TenantId.parse('self-test'),
      principal: PrincipalId.parse('self-test'),
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
