import { isAppError, type ApprovalId, type TenantId } from '@countersign/contracts';
import { readApproveServerResource } from '@countersign/contracts/governance-kernel';
import { repeat, type ClockGuard, type Log, type Repeated } from '@countersign/service-kit';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approveListed, type DeskParts } from '../server-registry/registry-desk.ts';
import { registryPrincipal, type GivenQuery } from '../server-registry/request-approval.ts';

/** A person who approved a server sees it approved about a second later. */
const approveEveryMs = 1_000;
/** A server that does not answer, or lists other tools than were approved, is looked at again so seldom. */
const lookAgainMs = 30_000;
/** Looks at servers that run at once. Servers of one tenant that do not answer delay no other tenant. */
const looksMax = { ofAll: 32, ofTenant: 2 };

type ServerApproverParts = {
  desk: DeskParts;
  /** Approvals that were given and not used, some of each tenant. */
  listGiven(query: GivenQuery): Promise<ApprovalRow[]>;
  clock: () => Date;
  clockGuard: ClockGuard;
  log: Log;
};

/**
 * Uses the approvals of servers that people gave: it lists the tools once more and pins them, if they are those that were approved. An
 * approval that an operator requested is left to the operator.
 */
export function startServerApprover({ desk, listGiven, clock, clockGuard, log }: ServerApproverParts): Repeated {
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
    const given = await listGiven({
      ...{ now, requestedBy: registryPrincipal, except: [...running.keys(), ...notBefore.keys()] },
      ...{ ofTenant: looksMax.ofTenant, limit: looksMax.ofAll },
    });
    for (const approval of given) {
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

async function use(desk: DeskParts, { tenant, resource, receiptId, approvedBy, brokenBy }: ApprovalRow): Promise<void> {
  const asked = readApproveServerResource(resource);
  const by = approvedBy.at(-1) ?? brokenBy;
  if (asked === null || receiptId === null || by === null) return;
  await approveListed(desk, { ...asked, tenant, by, receipt: receiptId, expiresAt: undefined });
}
