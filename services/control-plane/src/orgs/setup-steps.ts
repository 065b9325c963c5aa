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

type Deps = Pick<Context, 'kernel' | 'keyRing'>;

type Setup = { org: Org | null; done: Record<SetupStep, boolean> };

/**
 * The completed setup steps of a workspace. Each is read from the service that stores it. Throws GATEWAY_UNAVAILABLE,
 * GOVERNANCE_UNAVAILABLE.
 */
export async function setupOf(
  context: Pick<Context, 'database' | 'gateway' | 'kernel' | 'keyRing'>,
  caller: WorkspaceCaller,
): Promise<Setup> {
  const [org, colleague, kernel] = await Promise.all([
    findOrgOfWorkspace(context.database.reader, caller.workspaceId),
    hasColleague(context, caller),
    standingAtKernel(context, caller),
  ]);
  return { org, done: { org: org !== null, colleague, ...kernel } };
}

async function hasColleague(
  { gateway }: Pick<Context, 'gateway'>,
  { delegation, workspaceId: id }: WorkspaceCaller,
): Promise<boolean> {
  const asPerson = gateway.as(delegation, { getWorkspace, listInvites });
  const { members } = await answerOf('gateway', () => asPerson.getWorkspace({ params: { id } }));
  if (members.length > 1) return true;
  const { data } = await answerOf('gateway', () => asPerson.listInvites({ params: { id }, query: { limit: 1 } }));
  return data.length > 0;
}

type AtKernel = Pick<Setup['done'], 'budget' | 'passkey' | 'first_receipt' | 'policy'>;

async function standingAtKernel(context: Deps, caller: WorkspaceCaller): Promise<AtKernel> {
  const { assertion, userId, workspaceId } = caller;
  const client = context.kernel.as(assertion, { listBudgets, listPasskeys, listReceipts, getBoundaryStatus });
  const [budgets, passkeys, receipts, status] = await Promise.all([
    answerOf('kernel', () => client.listBudgets({ query: { limit: 1 } })),
    answerOf('kernel', () => client.listPasskeys({ params: { principal: userId } })),
    answerOf('kernel', () => client.listReceipts({ query: { kind: 'decision', limit: 1 } })),
    answerOf('kernel', () => client.getBoundaryStatus({})),
  ]);
  const [receipt] = receipts.data;
  return {
    budget: budgets.data.length > 0,
    passkey: passkeys.data.some(({ state }) => state === 'active'),
    first_receipt: receipt !== undefined && (await isVerified(context, receipt, caller)),
    policy: status.policy.owner === workspaceId,
  };
}

async function isVerified(context: Deps, receipt: StoredReceipt, caller: WorkspaceCaller): Promise<boolean> {
  const keys = await trustedKeys(context);
  return checkReceipt(await witnessed(context, receipt, { keys, ...caller }), keys, { tenant: caller.workspaceId })
    .verified;
}
