import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { Dispatch } from '../src/decision/dispatch.ts';
import type { Boundary, SealedDecision } from '../src/decision/sealed-decision.ts';
import type { NamedCall } from '../src/call/governed-call.ts';

type Member = 'args' | 'approvalGrant' | 'demand' | 'idempotency';
type Report = { tenant?: string; principal?: string; session: SessionId } & Partial<Pick<NamedCall, Member>>;

/** A call of an action without a tool. The starter policy allows it. */
export function spawnedAgent({ tenant = 'acme', principal = 'agent', session, ...report }: Report): NamedCall {
  return {
    kind: 'custom',
    action: 'agent.spawn',
    tool: null,
    resource: null,
    effectLevel: 'E2',
    caller: {
      tenant: tenant as TenantId, // plain strings instead of branded ones
      principal: principal as PrincipalId,
      scopes: [],
    },
    session,
    args: {},
    context: {},
    ...report,
  };
}

const silent = { error: () => undefined } as unknown as Log;

/** Leaves the state of a kernel that died after the decision on a call and before its dispatch. */
export function decideAndDie(boundary: Boundary, call: NamedCall): Promise<SealedDecision> {
  return new Promise((resolve, reject) => {
    const dying = new Dispatch({
      ...boundary,
      decideDispatched: async (named, claim) => {
        resolve(await boundary.decideDispatched(named, claim));
        return await new Promise<never>(() => undefined);
      },
    });
    const effect = { request: null, receive: () => neverSent(), failed: { outcome: 'failed' as const }, log: silent };
    dying
      .to(() => neverSent())
      .perform({ ...effect, call })
      .catch(reject);
  });
}

function neverSent(): never {
  throw new Error('A dead kernel sends nothing');
}
