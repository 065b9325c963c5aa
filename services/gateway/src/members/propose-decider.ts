import {
  AppError,
  ErrorCode,
  ErrorEnvelope,
  hasRole,
  mayDo,
  startDeadline,
  type RawAnswer,
} from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { holdToSettings } from '../settings/hold-to-settings.ts';

/** The time limit for the settings, which the kernel must have before it decides in a workspace. */
const settingsMs = 5_000;

type Proposal = {
  /** `null` for a person who is not a member yet. */
  from: Role | null;
  to: Role;
  /** The object of the change: `members/<subject>`. */
  subject: string;
  /** Shown to the approver. Receipts hold a salted hash. */
  args: Record<string, string>;
};

/**
 * Requests a decision of the kernel, as this owner, on whether a person becomes an owner or partner. Owners and
 * partners decide approvals, so this is a change of the policy. If the policy requires two people for such a change,
 * one owner alone cannot add a second voter. Throws POLICY_DENIED, APPROVAL_NEEDED and GOVERNANCE_UNAVAILABLE.
 */
export async function proposeDecider(
  context: Pick<Context, 'kernel' | 'database' | 'transaction' | 'now'>,
  {
    workspaceId,
    user,
    role,
    membersVersion,
  }: Pick<WorkspaceCaller, 'workspaceId' | 'user' | 'role' | 'membersVersion'>,
  proposal: Proposal,
): Promise<void> {
  const { kernel } = context;
  if (kernel === null || !isRaised(proposal)) return;
  const deadline = startDeadline({ ms: settingsMs });
  await holdToSettings(context, workspaceId, deadline.signal).finally(deadline.clear);
  const change = { resource: `members/${proposal.subject}?role=${proposal.to}`, args: proposal.args };
  const owner = { workspaceId, userId: user.id, role, membersVersion };
  requireAllowed(await kernel.proposeChange(owner, change).catch(throwUnavailable));
}

/** Whether the new role decides approvals and is higher than the current one. Other changes need no decision. */
function isRaised({ from, to }: Proposal): boolean {
  return mayDo(to, 'approval.decide') && (from === null || !hasRole(from, to));
}

function requireAllowed(answer: RawAnswer<DecisionReply>): void {
  if (answer.kind === 'refused') throw refusalOf(answer);
  const { allow, verdict, reason, reason_code, decision_id, receipt_id, approval } = answer.body;
  // Without a policy nothing runs, so there is nothing to protect yet.
  if (allow || reason_code === 'POLICY_MISSING') return;
  const sealed = { reason_code, decision_id, receipt_id };
  if (verdict !== 'ESCALATE' || approval === undefined)
    throw new AppError('POLICY_DENIED', `The policy denies this new owner or partner: ${reason}`, { details: sealed });
  throw new AppError(
    'APPROVAL_NEEDED',
    `The policy requires a second person to approve this owner or partner: ${reason}`,
    {
      details: { ...sealed, approval_id: approval.approval_id, expires_at: approval.expires_at },
    },
  );
}

function refusalOf({ status, body }: RawAnswer<DecisionReply>): AppError {
  const error = ErrorEnvelope.safeParse(body).data?.error;
  const code = ErrorCode.safeParse(error?.code).data;
  if (status < 500 && status !== 401 && code !== undefined) return new AppError(code, error?.message ?? code);
  return new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel returned no decision, so nothing was changed');
}

function throwUnavailable(cause: unknown): never {
  if (!(cause instanceof KernelError)) throw cause;
  throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not answer, so nothing was changed. Try again', {
    cause,
  });
}
