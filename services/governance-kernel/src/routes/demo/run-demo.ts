import { PrincipalId, SessionId, type TenantId } from '@countersign/contracts';
import { runDemo } from '@countersign/contracts/governance-kernel';
import { answer, handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { meantBy } from '../../call/governed-call.ts';
import { demoActions } from '../../doors/demo/demo-actions.ts';
import { demoTenant } from '../../doors/demo/demo-policy.ts';

const hint =
  'POST receipt (payload and signature) and receipt_hash to /api/demo/verify, or check them offline against /api/v1/trust/keys.';

/**
 * Decides a visitor's call by the same decision cycle as all other calls. The kernel sets the caller, because a visitor
 * has no credentials. Each call has a session of its own. All visitors share the tenant `demo`. Holders of the operator
 * key may read and write in this tenant too.
 */
export const runDemoRoute = ({ boundary, clock, newUlid, demoAllowance }: Context) =>
  handlePublic(runDemo, { rateLimit: 'demo' })(async ({ body }) => {
    demoAllowance.take();
    const { args, ...sample } = demoActions[body.action_id];
    const decision = await boundary.decide({
      caller: {
        tenant: demoTenant as TenantId, // within its schema
        principal: PrincipalId.parse('demo-agent'),
        isVisitor: true,
        scopes: ['*'],
      },
      session: SessionId.parse(`demo-${newUlid(clock().getTime())}`),
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
