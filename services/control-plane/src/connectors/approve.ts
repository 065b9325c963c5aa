import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type Digest, type InstallId } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import {
  requestMcpServerApproval,
  type Approval,
  type McpServerDetail,
} from '@countersign/contracts/governance-kernel';
import { castVote } from '../approvals/cast-vote.ts';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newAttemptId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findInstallById, type StoredInstall } from '../store/connector-installs.ts';
import { installView } from './install-view.ts';
import { knownServer, requireServerOf } from './known-server.ts';

type Asked = { id: InstallId; definitionsHash: Digest; reason: string; requestId: string };

/** The kernel pins about a second after the vote. */
const looksMax = 40;
const betweenMs = 250;

/**
 * Approves what the kernel saw of a server, and waits until it has pinned it. Throws NOT_FOUND, ILLEGAL_TRANSITION for a
 * connector that is disabled or has listed nothing, PRECONDITION_FAILED, POLICY_DENIED, APPROVAL_NEEDED where another
 * person decides, and GOVERNANCE_UNAVAILABLE.
 */
export async function approveInstall(
  context: Context,
  asked: Asked,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const { workspaceId } = caller;
  const install = await findInstallById(context.database.reader, { workspaceId, id: asked.id });
  if (install === null) throw new AppError('NOT_FOUND', 'There is no such object');
  if (install.disabledAt !== null)
    throw new AppError('ILLEGAL_TRANSITION', 'The connector is disabled. Install it again', {
      details: { allowed: ['install'] },
    });
  const server = requireServerOf(install, await knownServer(context, install.connectorId, caller));
  requireRead(server, asked.definitionsHash);
  if (isPinned(server)) return installView(install, server);
  await approveAtKernel(context, { install, server, asked }, caller);
  return installView(install, await pinnedServer(context, install, caller));
}

function requireRead({ definitions_hash: current }: McpServerDetail, read: Digest): void {
  if (current === null)
    throw new AppError('ILLEGAL_TRANSITION', 'The server has listed no tools yet, so there is nothing to approve');
  if (current === read) return;
  throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed since they were read', {
    param: 'definitions_hash',
    details: { definitions_hash: current },
  });
}

function isPinned({ state, tools }: McpServerDetail): boolean {
  return state === 'approved' && tools.every(({ pin }) => pin === 'in_sync');
}

type Approving = { install: StoredInstall; server: McpServerDetail; asked: Asked };

/** A request whose vote was cast already goes on without another decision. */
async function approveAtKernel(context: Context, approving: Approving, caller: WorkspaceCaller): Promise<void> {
  if (approving.server.approval_request?.state === 'approved') return;
  const { install, asked } = approving;
  const { workspaceId: scope, userId: actor } = caller;
  const decision = await proposeChange(
    context,
    {
      ...({ action: 'connector.approve', object: 'connectors', effectLevel: 'E3' } as const),
      resource: `connector:${install.connectorId}?definitions=${asked.definitionsHash}`,
      key: newAttemptId(),
    },
    caller,
  );
  const approval = await requestApproval(context, { install, asked }, caller);
  await vote(context, approval, caller);
  const act = { action: 'connector.approved', actor, verdict: 'allow', subject: install.id } as const;
  const details = {
    ...{ connector_id: install.connectorId, definitions_hash: asked.definitionsHash, reason: asked.reason },
    ...{ approval_id: approval.approval_id, receipt_id: decision.receipt_id },
  };
  const { requestId } = asked;
  await context.transaction((tx) => recordAudit(tx, { scope, ...act, details, requestId }, context.now()));
}

function requestApproval(
  { kernel }: Context,
  { install, asked }: Pick<Approving, 'install' | 'asked'>,
  { assertion }: WorkspaceCaller,
): Promise<Approval> {
  const client = kernel.as(assertion, { requestMcpServerApproval });
  const body = { definitions_hash: asked.definitionsHash, reason: asked.reason };
  const input = { params: { server_id: install.connectorId }, query: {}, body };
  return answerOf('kernel', () => client.requestMcpServerApproval(input));
}

/** Refusals of a vote that another person may cast, or the same one with a passkey in the inbox. */
const forOthers = ['MAY_NOT_DECIDE', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED', 'PASSKEYS_UNAVAILABLE'];

async function vote(context: Context, approval: Approval, caller: WorkspaceCaller): Promise<void> {
  const { approval_id: id, ceremony_hash: hash, state, expires_at } = approval;
  if (state === 'approved') return;
  try {
    await castVote(context, { id, decision: 'approve', ifMatch: `"${hash}"` }, caller);
  } catch (error) {
    if (!isAppError(error) || !forOthers.includes(error.code)) throw error;
    throw new AppError('APPROVAL_NEEDED', `The approval is to be decided in the inbox: ${error.message}`, {
      details: { approval_id: id, expires_at, vote: error.code },
    });
  }
}

/** The server when its tools are pinned, or as it stands after the wait: the kernel goes on by itself. */
async function pinnedServer(
  context: Context,
  { connectorId }: StoredInstall,
  caller: WorkspaceCaller,
): Promise<McpServerDetail | null> {
  let server = await knownServer(context, connectorId, caller);
  for (let looked = 1; looked < looksMax && server !== null && !isPinned(server); looked += 1) {
    await delay(betweenMs);
    server = await knownServer(context, connectorId, caller);
  }
  return server;
}
