import { evaluate } from '@countersign/contracts/governance-kernel';
import { prepared } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { handleTenant } from '../handle.ts';

/** A verdict is data: DENY and ESCALATE are 200 here. The caller executes, so an ALLOW takes its budgets at once. */
export const evaluateRoute = ({ boundary, mcp }: Context) =>
  handleTenant(evaluate, { idempotency: 'handler' })(async ({ body, caller, idempotency }) => {
    // Whoever executes it, a registered tool is judged by its server, its pin and the effect that was declared with it.
    const registered =
      body.action === 'tool.call' && body.tool !== undefined ? await mcp.resolveIfDeclared(body.tool) : null;
    const decision = await boundary.decide({
      caller,
      session: body.session_id,
      action: body.action,
      tool: registered?.tool ?? body.tool ?? null,
      resource: body.resource ?? null,
      effectLevel: registered?.effectLevel ?? body.effect_level ?? 'E4',
      args: body.args,
      context: body.context,
      approvalGrant: body.approval_grant,
      mode: body.mode,
      ...(body.demand === undefined ? {} : { demand: body.demand }),
      dispatchedBy: 'caller',
      registry: registered?.registry ?? { state: 'not_applicable' },
      idempotency: idempotency === null ? undefined : { ...idempotency, route: evaluate.operation },
    });
    return prepared(200, decision.json, decision.headers);
  });
