import { evaluate } from '@countersign/contracts/governance-kernel';
import { prepared } from '@countersign/service-kit';
import { declaredDemand } from '../../call/demand.ts';
import { evaluatedCall, givenArguments } from '../../call/governed-call.ts';
import { requireProposer } from '../../call/require-proposer.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/**
 * Answers every verdict with 200. The caller executes the call, so an ALLOW spends its budgets at once, except in
 * shadow mode.
 */
export const evaluateRoute = ({ boundary }: Pick<Context, 'boundary'>) =>
  handleTenant(evaluate, { idempotency: 'handler' })(async ({ body, caller, idempotency }) => {
    requireProposer(body.action, caller);
    const { args, malformedArguments } = givenArguments(body.args);
    const call = evaluatedCall(body, {
      caller,
      session: body.session_id,
      args,
      malformedArguments,
      effectLevel: body.effect_level,
      context: body.context,
      approvalGrant: body.approval_grant,
      mode: body.mode,
      demand: declaredDemand(body.demand),
      dispatchedBy: 'caller',
      idempotency: idempotency === null ? undefined : ofThisRoute(idempotency),
    });
    const decision = await boundary.decide(call);
    return prepared(200, decision.json, decision.headers);
  });

function ofThisRoute({ key, fingerprint }: { key: string; fingerprint: string }) {
  return { key, fingerprint, route: evaluate.operation };
}
