import { preflightSandbox } from '@countersign/contracts/governance-kernel';
import { prepared } from '@countersign/service-kit';
import { givenArguments } from '../../call/governed-call.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';

/**
 * Decides a tool run with the accesses that its process needs. The caller starts the process, so an ALLOW spends its
 * budgets at once.
 */
export const preflightSandboxRoute = ({ boundary }: Context) =>
  handleTenant(preflightSandbox, { idempotency: 'handler' })(async ({ body, caller, idempotency }) => {
    const { tool, session_id: session, request, grant_hash: grantHash } = body;
    const decision = await boundary.decide({
      ...{ kind: 'tool', tool, resource: null, caller, session, context: {} },
      ...givenArguments(body.args),
      approvalGrant: body.approval_grant,
      sandbox: { request, grantHash },
      mode: 'enforce',
      dispatchedBy: 'caller',
      idempotency: idempotency === null ? undefined : { ...idempotency, route: preflightSandbox.operation },
    });
    return prepared(200, decision.json, decision.headers);
  });
