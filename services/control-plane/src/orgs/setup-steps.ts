import type { SetupStep } from '@countersign/contracts/control-plane';
import { getWorkspace, listInvites } from '@countersign/contracts/gateway';
import {
  getBoundaryStatus,
  listBudgets,
  listPasskeys,
  listReceipts,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { findOrgOfWorkspace, type Org } from '../store/orgs.ts';
import { checkReceipt } from '../trust/check-receipt.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { witnessed } from '../trust/witnessed.ts';

type Setup = { org: Org | null; done: Record<SetupStep, boolean> };

/**
 * The finished setup steps of a workspace: each step is read from the service that stores it. Throws
 * GATEWAY_UNAVAILABLE, GOVERNANCE_UNAVAILABLE.
 */
export async function setupOf(context: Context, caller: WorkspaceCaller): Promise<Setup> {
  const [org, colleague, kernel] = await Promise.all([
    findOrgOfWorkspace(context.database.reader, caller.workspaceId),
    hasColleague(context, caller),
    standingAtKernel(context, caller),
  ]);
  return { org, done: { org: org !== null, colleague, ...kernel } };
}

async function hasColleague({ gateway }: Context, { delegation, workspaceId: id }: WorkspaceCaller): Promise<boolean> {
  const asPerson = gateway.as(delegation, { getWorkspace, listInvites });
  const { members } = await answerOf('gateway', () => asPerson.getWorkspace({ params: { id } }));
  if (members.length > 1) return true;
  const { data } = await answerOf('gateway', () => asPerson.listInvites({ params: { id }, query: { limit: 1 } }));
  return data.length > 0;
}

type AtKernel = Pick<Setup['done'], 'budget' | 'passkey' | 'first_receipt' | 'policy'>;

async function standingAtKernel(context: Context, caller: WorkspaceCaller): Promise<AtKernel> {
  const { assertion, userId, workspaceId } = caller;
  const asked = context.kernel.as(assertion, { listBudgets, listPasskeys, listReceipts, getBoundaryStatus });
  const [budgets, passkeys, receipts, status] = await Promise.all([
    answerOf('kernel', () => asked.listBudgets({ query: { limit: 1 } })),
    answerOf('kernel', () => asked.listPasskeys({ params: { principal: userId } })),
    answerOf('kernel', () => asked.listReceipts({ query: { kind: 'decision', limit: 1 } })),
    answerOf('kernel', () => asked.getBoundaryStatus({})),
  ]);
  const [receipt] = receipts.data;
  return {
    budget: budgets.data.length > 0,
    passkey: passkeys.data.some(({ state }) => state === 'active'),
    first_receipt: receipt !== undefined && (await isVerified(context, receipt, caller)),
    policy: status.policy.owner === workspaceId,
  };
}

async function isVerified(context: Context, receipt: StoredReceipt, caller: WorkspaceCaller): Promise<boolean> {
  const keys = await trustedKeys(context);
  return checkReceipt(await witnessed(context, receipt, { keys, ...caller }), keys, { tenant: caller.workspaceId })
    .verified;
}
