import { setTimeout as delay } from 'node:timers/promises';
import { AppError, isAppError, type Digest, type InstallId } from '@countersign/contracts';
import type { ConnectorInstall } from '@countersign/contracts/control-plane';
import { requestMcpServerApproval, type Approval } from '@countersign/contracts/governance-kernel';
import { castVote } from '../approvals/cast-vote.ts';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { newAttemptId } from '../ids.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { recordAudit } from '../store/audit.ts';
import { findInstallById, type StoredInstall } from '../store/connector-installs.ts';
import { installView } from './install-view.ts';
import { knownServer, requireConnector, type KnownServer } from './known-server.ts';

type Deps = Pick<Context, 'kernel'>;

type Input = { id: InstallId; definitionsHash: Digest; reason: string; requestId: string };

/** The kernel pins tools about a second after the vote. */
const looksMax = 40;
const betweenMs = 250;

/**
 * Approves the observed tools of a server, and waits up to ten seconds until the kernel has pinned them. Throws
 * ILLEGAL_TRANSITION for a connector that is disabled, has listed no tools or has no server under its name. Throws
 * APPROVAL_NEEDED when another person or a passkey must vote. Throws NOT_FOUND, PRECONDITION_FAILED, POLICY_DENIED and
 * GOVERNANCE_UNAVAILABLE.
 */
export async function approveInstall(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  input: Input,
  caller: WorkspaceCaller,
): Promise<ConnectorInstall> {
  const { workspaceId } = caller;
  const install = await findInstallById(context.database.reader, { workspaceId, id: input.id });
  if (install === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  if (install.disabledAt !== null)
    throw new AppError('ILLEGAL_TRANSITION', 'The connector is disabled. Install it again', {
      details: { allowed: ['install'] },
    });
  const server = requireConnector(await knownServer(context, install, caller));
  requireRead(server, input.definitionsHash);
  if (isPinned(server)) return installView(install, server);
  await approveAtKernel(context, { install, server, input }, caller);
  return installView(install, await pinnedServer(context, install, caller));
}

function requireRead({ definitions_hash: current }: KnownServer, read: Digest): void {
  if (current === null)
    throw new AppError('ILLEGAL_TRANSITION', 'The server has listed no tools yet. Try again after it does');
  if (current === read) return;
  throw new AppError('PRECONDITION_FAILED', 'The server or its tools changed after you read them. Read them again', {
    param: 'definitions_hash',
    details: { definitions_hash: current },
  });
}

function isPinned({ state, tools }: KnownServer): boolean {
  return state === 'approved' && tools.every(({ pin }) => pin === 'in_sync');
}

type Approving = { install: StoredInstall; server: KnownServer; input: Input };

/** Does nothing when the approval request of the server is already approved. */
async function approveAtKernel(
  context: Pick<Context, 'kernel' | 'now' | 'transaction'>,
  approving: Approving,
  caller: WorkspaceCaller,
): Promise<void> {
  if (approving.server.approval_request?.state === 'approved') return;
  const { install, input } = approving;
  const { workspaceId: scope, userId: actor } = caller;
  const decision = await proposeChange(
    context,
    {
      ...({ action: 'connector.approve', object: 'connectors', effectLevel: 'E3' } as const),
      resource: `connector:${install.connectorId}?definitions=${input.definitionsHash}`,
      key: newAttemptId(),
    },
    caller,
  );
  const approval = await requestApproval(context, { install, input }, caller);
  await vote(context, approval, caller);
  const act = { action: 'connector.approved', actor, verdict: 'allow', subject: install.id } as const;
  const details = {
    ...{ connector_id: install.connectorId, definitions_hash: input.definitionsHash, reason: input.reason },
    ...{ approval_id: approval.approval_id, receipt_id: decision.receipt_id },
  };
  const { requestId } = input;
  await context.transaction((tx) => recordAudit(tx, { scope, ...act, details, requestId }, context.now()));
}

function requestApproval(
  { kernel }: Deps,
  { install, input }: Pick<Approving, 'install' | 'input'>,
  { assertion }: WorkspaceCaller,
): Promise<Approval> {
  const client = kernel.as(assertion, { requestMcpServerApproval });
  const body = { definitions_hash: input.definitionsHash, reason: input.reason };
  const request = { params: { server_id: install.connectorId }, query: {}, body };
  return answerOf('kernel', () => client.requestMcpServerApproval(request));
}

/** Codes of refused votes. Another person may cast such a vote, or the same person with a passkey in the inbox. */
const forOthers = ['MAY_NOT_DECIDE', 'PERMISSION_DENIED', 'PASSKEY_REQUIRED', 'PASSKEYS_UNAVAILABLE'];

async function vote(context: Deps, approval: Approval, caller: WorkspaceCaller): Promise<void> {
  const { approval_id: id, ceremony_hash: hash, state, expires_at } = approval;
  if (state === 'approved') return;
  try {
    await castVote(context, { id, decision: 'approve', ifMatch: `"${hash}"` }, caller);
  } catch (error) {
    if (!isAppError(error) || !forOthers.includes(error.code)) throw error;
    throw new AppError('APPROVAL_NEEDED', `The approval must be decided in the inbox: ${error.message}`, {
      details: { approval_id: id, expires_at, vote: error.code },
    });
  }
}

/** The server once its tools are pinned. After a timeout, its current state: the kernel may pin them later. */
async function pinnedServer(
  context: Deps,
  install: StoredInstall,
  caller: WorkspaceCaller,
): Promise<KnownServer | null> {
  let server = await knownServer(context, install, caller);
  for (let looked = 1; looked < looksMax && server !== null && !isPinned(server); looked += 1) {
    await delay(betweenMs);
    server = await knownServer(context, install, caller);
  }
  return server;
}
