import { ErrorCode, ErrorEnvelope, type RawAnswer } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError, throwKernelError } from './kernel-error.ts';

export type AppliedSettings = { workspaceId: string; version: number; settings: WorkspaceSettings };

type Sibling = Pick<KernelClient, 'putToolBlocks' | 'putCeiling'>;

/** What the models of a workspace may cost in a month. */
const monthlyCeiling = 'ceiling.llm_month';

/**
 * Sets at the kernel what it judges by: the blocked tools, and the ceiling of the month. Each is sealed there under the version of the
 * settings, or confirmed where it stands already. Throws KernelError, `SETTINGS_REFUSED` where the kernel will not have them.
 */
export async function applySettings(
  sibling: Sibling,
  { workspaceId: tenant, version, settings: { policyConfig, budgetConfig } }: AppliedSettings,
  signal: AbortSignal,
): Promise<void> {
  const blocks = { version, tools: policyConfig.blockedTools };
  accept(await sibling.putToolBlocks({ params: { tenant }, body: blocks, signal }).catch(throwKernelError));
  const ceiling = {
    version,
    subject: 'tenant',
    window: 'month' as const,
    spend_limit_minor: Math.round(budgetConfig.monthlyLlmBudget * 100),
    currency: budgetConfig.currency,
    tool_call_limit: null,
    egress_limit_bytes: null,
    write_limit: null,
    approval_required_above_minor: null,
  };
  const params = { tenant, budget_id: monthlyCeiling };
  accept(await sibling.putCeiling({ params, body: ceiling, signal }).catch(throwKernelError));
}

function accept(answer: RawAnswer<unknown>): void {
  if (answer.kind === 'replied') return;
  const said = ErrorEnvelope.safeParse(answer.body).data?.error;
  if (answer.status === 409)
    throw new KernelError('unreachable', 'SETTINGS_REFUSED', `The kernel refused the settings: ${said?.message ?? ''}`);
  throw new KernelError(
    'unreachable',
    ErrorCode.safeParse(said?.code).data ?? 'GOVERNANCE_REFUSED',
    `The kernel answered ${answer.status}`,
  );
}
