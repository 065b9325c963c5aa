import { isAppError, type ApprovalId, type TenantId } from '@countersign/contracts';
import { readApproveServerResource } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approveListed, type DeskDeps } from '../doors/server-registry/registry-desk.ts';
import { registryPrincipal } from '../controls/identities/kernel-name.ts';
import type { GivenQuery } from '../doors/server-registry/request-approval.ts';

/** A person who approved a server sees the result about a second later. */
const approveEveryMs = 1_000;
/** The retry interval for a server that does not answer, or lists tools that differ from the approved tools. */
const lookAgainMs = 30_000;
/** The most lookups at once. Unavailable servers of one tenant delay no other tenant. */
const looksMax = { ofAll: 32, ofTenant: 2 };

type ServerApproverDeps = {
  desk: DeskDeps;
  /** Unused approvals, some of each tenant. */
  listGiven(query: GivenQuery): Promise<ApprovalRow[]>;
  clock: () => Date;
  clockGuard: ClockGuard;
  log: Log;
};

/**
 * Uses approvals of servers: lists the tools once more and pins them, if they are those that were approved. An
 * approval that an operator requested is left to the operator.
 */
export function startServerApprover({ desk, listGiven, clock, clockGuard, log }: ServerApproverDeps): Repeated {
  const running = new Map<ApprovalId, { tenant: TenantId; look: Promise<void> }>();
  const notBefore = new Map<ApprovalId, number>();
  const runningOf = (tenant: TenantId) => [...running.values()].filter((each) => each.tenant === tenant).length;
  const look = async (approval: ApprovalRow) => {
    const { tenant, id, resource } = approval;
    try {
      await use(desk, approval);
    } catch (error) {
      notBefore.set(id, clock().getTime() + lookAgainMs);
      const problem = isAppError(error) ? error.code : error;
      log.warn('server_approver.not_approved', { tenant_id: tenant, approval_id: id, resource, problem });
    } finally {
      running.delete(id);
    }
  };
  const run = async () => {
    const now = clock();
    for (const [id, atMs] of notBefore) if (atMs <= now.getTime()) notBefore.delete(id);
    const approved = await listGiven({
      ...{ now, requestedBy: registryPrincipal, except: [...running.keys(), ...notBefore.keys()] },
      ...{ ofTenant: looksMax.ofTenant, limit: looksMax.ofAll },
    });
    for (const approval of approved) {
      const { tenant, id } = approval;
      if (running.size >= looksMax.ofAll) return;
      if (runningOf(tenant) < looksMax.ofTenant) running.set(id, { tenant, look: look(approval) });
    }
  };
  const onFailure = (error: unknown) => log.warn('server_approver.failed', { error });
  const repeated = repeat({ run, intervalMs: approveEveryMs, clockGuard, onFailure });
  const close = async () => {
    await repeated.close();
    await Promise.all([...running.values()].map((each) => each.look));
  };
  return { ...repeated, close };
}

async function use(desk: DeskDeps, { tenant, resource, receiptId, approvedBy, brokenBy }: ApprovalRow): Promise<void> {
  const input = readApproveServerResource(resource);
  const by = approvedBy.at(-1) ?? brokenBy;
  if (input === null || receiptId === null || by === null) return;
  const { serverId, definitionsHash, expiresAt } = input;
  await approveListed(desk, { serverId, definitionsHash, expiresAt, tenant, by, receipt: receiptId });
}
