import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import { markSettled, settleLater, type ProvisionedPerson } from '../store/provisioned-people.ts';
import { settleRole } from './settle-role.ts';

type Deps = Pick<
  Context,
  'log' | 'database' | 'newEvent' | 'kernel' | 'deliveredMembers' | 'now' | 'databaseNow' | 'transaction'
>;

/** The pause before unfinished work is attempted again, such as work for an unavailable kernel. */
const laterMs = 2_000;

const reason = 'The identity provider ended the access of this person';

/** Applies the roles of a person's groups. Ends their pending and usable approvals if their access ended. */
export async function settlePerson(context: Deps, person: ProvisionedPerson): Promise<void> {
  const approvalsDue = person.approvalsDue && !(await endApprovals(context, person));
  const areRolesDue = !(await settleRoles(context, person));
  const { transaction, now } = context;
  if (!approvalsDue && !areRolesDue) return transaction((tx) => markSettled(tx, person));
  const dueAt = new Date(now().getTime() + laterMs);
  return transaction((tx) => settleLater(tx, person, { dueAt, approvalsDue }));
}

/** `false` while the kernel does not answer. */
async function endApprovals(
  { kernel, log }: Pick<Context, 'log' | 'kernel'>,
  { userId, workspaceIds }: ProvisionedPerson,
): Promise<boolean> {
  if (kernel === null || userId === null) return true;
  try {
    for (const workspaceId of workspaceIds) await kernel.endApprovalsOf({ workspaceId, userId, reason });
    return true;
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    log.warn('provisioning.approvals_open', { error });
    return false;
  }
}

async function settleRoles(context: Deps, person: ProvisionedPerson): Promise<boolean> {
  const { userId, isActive, workspaceIds } = person;
  if (userId === null || !isActive) return true;
  let isSettled = true;
  for (const workspaceId of workspaceIds)
    if (!(await settleRole(context, { ...person, userId }, workspaceId))) isSettled = false;
  return isSettled;
}
