import { authorizeMcpCall } from '@countersign/contracts/governance-kernel';
import { prepared } from '@countersign/service-kit';
import { givenArguments, type Caller } from '../../call/governed-call.ts';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { toolAddress } from '../../registry/tool-definition.ts';

/** Decides a tool call that the caller itself sends to its server. */
export const authorizeMcpCallRoute = ({ boundary }: Context) =>
  handleTenant(authorizeMcpCall, { idempotency: 'handler' })(async ({ body, caller, idempotency }) => {
    const decision = await boundary.decide({
      kind: 'tool',
      tool: toolAddress({ serverId: body.server_id, toolName: body.tool_name }),
      resource: null,
      caller: withToken(caller, { scopes: body.granted_scopes, resource: body.oauth_resource }),
      session: body.session_id,
      effectLevel: body.effect_level,
      ...givenArguments(body.args),
      context: body.context,
      approvalGrant: body.approval_grant,
      knownDefinition: body.pinned_schema_hash,
      mode: 'enforce',
      dispatchedBy: 'caller',
      idempotency: idempotency === null ? undefined : { ...idempotency, route: authorizeMcpCall.operation },
    });
    return prepared(decision.reply.allow ? 200 : 403, decision.json, decision.headers);
  });

/**
 * A caller with the operator key states the rights of another party's token. A caller with a credential of its own has
 * the rights of that credential, whatever it states.
 */
function withToken(caller: Caller, stated: Pick<Caller, 'scopes' | 'resource'>): Caller {
  const { accessKey, agentKey, assertion, oauth } = caller;
  const isProven = [accessKey, agentKey, assertion, oauth].some((proof) => proof !== undefined);
  return isProven ? caller : { ...caller, ...stated };
}
