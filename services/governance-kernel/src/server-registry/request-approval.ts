import { AppError, type ApprovalId, type Digest, type PrincipalId, type SessionId } from '@countersign/contracts';
import { approveServerAction } from '@countersign/contracts/governance-kernel';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { askBeforehand, type AskParts } from '../approvals/ask-beforehand.ts';
import type { Caller } from '../call/governed-call.ts';
import { getServer, type DeskParts } from './registry-desk.ts';

/**
 * Requests the approvals of servers. The person who asks is the sponsor: another owner or partner decides, unless there is none.
 */
export const registryPrincipal = 'mcp-registry' as PrincipalId; // within its schema

/** A day, since people read the definitions of a server before they approve it. */
const expiresInSeconds = 86_400;

/** Which approvals of servers to use next. */
export type GivenQuery = {
  now: Date;
  requestedBy: PrincipalId;
  except: readonly ApprovalId[];
  ofTenant: number;
  limit: number;
};

type RequestParts = { desk: DeskParts; cycle: AskParts };

type Request = { caller: Caller; serverId: string; definitionsHash: Digest; reason: string };

/** Opens the approval of exactly what the server listed, or returns the open one. Throws NOT_FOUND, ILLEGAL_TRANSITION and PRECONDITION_FAILED. */
export async function requestServerApproval(parts: RequestParts, request: Request): Promise<ApprovalRow> {
  const { caller, serverId, definitionsHash, reason } = request;
  const { tenant, principal } = caller;
  const server = await getServer(parts.desk, tenant, serverId);
  if (server.owner !== 'tenant')
    throw illegal(
      'The installation declares this server for all workspaces. Its operator approves it with the operator key',
    );
  if (server.approval === null || server.definitions_hash === null)
    throw illegal('The server has listed no tools yet, so there is nothing to approve');
  if (server.definitions_hash !== definitionsHash)
    throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed since they were read', {
      param: 'definitions_hash',
      details: { definitions_hash: server.definitions_hash },
    });
  const { resource } = server.approval;
  const revokedAtMs = server.revoked_at === null ? null : Date.parse(server.revoked_at);
  const open = await parts.desk.findRequest(tenant, { resource, now: parts.desk.clock(), revokedAtMs });
  if (open !== null) return open;
  return await askBeforehand(parts.cycle, {
    call: {
      ...{
        kind: 'custom',
        action: approveServerAction,
        tool: null,
        resource,
        args: {},
        context: {},
        effectLevel: 'E3',
      },
      caller: { ...caller, principal: registryPrincipal },
      session: `approve-server:${serverId}` as SessionId, // within its schema: an id has no slash
    },
    sponsor: principal,
    ...{ reason, quorum: 1, approvers: [], scope: 'once', timelockSeconds: 0, expiresInSeconds },
  });
}

function illegal(message: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', message);
}
