import type { PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { runDemo } from '@countersign/contracts/governance-kernel';
import { answer, handlePublic } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { meantBy } from '../call/governed-call.ts';
import { demoActions } from '../demo/demo-actions.ts';
import { demoTenant } from '../demo/demo-policy.ts';

const hint =
  'POST receipt (payload and signature) and receipt_hash to /api/demo/verify, or check them offline against /api/v1/trust/keys.';

/**
 * The one cycle for everyone: only the caller is given, because a visitor has no credentials. Each call is a session of
 * its own. A holder of the admin key may name the tenant `demo` too and read or add to it, since it is shared by all.
 */
export const runDemoRoute = ({ boundary, clock, newUlid, demoAllowance }: Context) =>
  handlePublic(runDemo, { rateLimit: 'demo' })(async ({ body }) => {
    demoAllowance.take();
    const { args, ...sample } = demoActions[body.action_id];
    const decision = await boundary.decide({
      caller: {
        tenant: demoTenant as TenantId, // within its schema
        principal: 'demo-agent' as PrincipalId, // within its schema
        isVisitor: true,
        scopes: ['*'],
      },
      session: `demo-${newUlid(clock().getTime())}` as SessionId, // within its schema
      ...meantBy(sample),
      effectLevel: sample.effectLevel,
      args: { ...args, ...body.args },
      context: {},
      mode: 'enforce',
      dispatchedBy: 'caller',
      asksNobody: true,
    });
    return answer(200, { ...decision.reply, verification_hint: hint }, decision.headers);
  });
