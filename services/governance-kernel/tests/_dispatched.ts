import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import type { Log } from '@countersign/service-kit';
import { Dispatch } from '../src/boundary/dispatch.ts';
import type { Boundary, SealedDecision } from '../src/boundary/sealed-decision.ts';
import type { NamedCall } from '../src/call/governed-call.ts';

type Member = 'args' | 'approvalGrant' | 'demand' | 'idempotency';
type Told = { tenant?: string; principal?: string; session: SessionId } & Partial<Pick<NamedCall, Member>>;

/** An action without a tool, which a kernel under the starter policy may perform itself. */
export function spawnedAgent({ tenant = 'acme', principal = 'agent', session, ...told }: Told): NamedCall {
  return {
    kind: 'custom',
    action: 'agent.spawn',
    tool: null,
    resource: null,
    effectLevel: 'E2',
    caller: {
      tenant: tenant as TenantId, // within their schemas
      principal: principal as PrincipalId,
      scopes: [],
    },
    session,
    args: {},
    context: {},
    ...told,
  };
}

const silent = { error: () => undefined } as unknown as Log;

/** The state after a kernel died between the decision on a call of its own and the dispatch. */
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
