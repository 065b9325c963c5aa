import {
  AppError,
  type ApprovalId,
  type Digest,
  type Instant,
  type PrincipalId,
  SessionId,
} from '@countersign/contracts';
import { approveServerAction, approveServerResource } from '@countersign/contracts/governance-kernel';
import type { ApprovalRow } from '../../controls/approvals/approval-row.ts';
import { askBeforehand, type AskDeps } from '../../controls/approvals/ask-beforehand.ts';
import type { Caller } from '../../call/governed-call.ts';
import { registryPrincipal } from '../../controls/identities/kernel-name.ts';
import { getServer, type DeskDeps } from './registry-desk.ts';

/** A request stays open for a day, since people read the definitions of a server before they approve it. */
const expiresInSeconds = 86_400;

/** Selects the approvals that the kernel uses next in order to approve servers. */
export type GivenQuery = {
  now: Date;
  requestedBy: PrincipalId;
  except: readonly ApprovalId[];
  ofTenant: number;
  limit: number;
};

type RequestDeps = { desk: DeskDeps; cycle: AskDeps };

type Request = {
  caller: Caller;
  serverId: string;
  definitionsHash: Digest;
  reason: string;
  /** The end of the server's approval. */
  expiresAt: Instant | undefined;
};

/**
 * Requests an approval of exactly the listed definitions, or returns the open request. Throws NOT_FOUND,
 * ILLEGAL_TRANSITION, PRECONDITION_FAILED and END_PASSED.
 */
export async function requestServerApproval(deps: RequestDeps, request: Request): Promise<ApprovalRow> {
  const { caller, serverId, definitionsHash, reason, expiresAt } = request;
  const { tenant, principal } = caller;
  const server = await getServer(deps.desk, tenant, serverId);
  if (server.owner !== 'tenant')
    throw illegal(
      'The installation declares this server for all workspaces. Its operator approves it with the operator key',
    );
  if (server.approval === null || server.definitions_hash === null)
    throw illegal('The server has listed no tools yet. Try again after it does');
  if (server.definitions_hash !== definitionsHash)
    throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed after you read them. Read them again', {
      param: 'definitions_hash',
      details: { definitions_hash: server.definitions_hash },
    });
  if (expiresAt !== undefined && Date.parse(expiresAt) <= deps.desk.clock().getTime())
    throw new AppError('END_PASSED', `expires_at is ${expiresAt}, which has passed. Choose a later time`, {
      param: 'expires_at',
    });
  const resource = approveServerResource(serverId, definitionsHash, expiresAt);
  const revokedAtMs = server.revoked_at === null ? null : Date.parse(server.revoked_at);
  const open = await deps.desk.findRequest(tenant, {
    ...{ serverId, definitionsHash, revokedAtMs },
    now: deps.desk.clock(),
  });
  if (open?.resource === resource) return open;
  if (open !== null)
    throw illegal(
      `The open request ${open.id} is for the same tools with a different expires_at. Decide this request before you make a new one`,
    );
  return await askBeforehand(deps.cycle, {
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
      session: SessionId.parse(`approve-server:${serverId}`),
    },
    sponsor: principal,
    ...{ reason, quorum: 1, approvers: [], scope: 'once', timelockSeconds: 0, expiresInSeconds },
  });
}

function illegal(message: string): AppError {
  return new AppError('ILLEGAL_TRANSITION', message);
}
