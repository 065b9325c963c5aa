import { z } from 'zod';
import { ControlVersion, ErrorCode, ErrorEnvelope, type RawAnswer } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import type { KernelClient } from './kernel-clients.ts';
import { KernelError, SettingsRefused, throwKernelError } from './kernel-error.ts';

export type AppliedSettings = {
  workspaceId: string;
  version: number;
  settings: WorkspaceSettings;
  /** Whether the kernel has not confirmed any settings of this workspace yet. */
  isFirst: boolean;
};

type Sibling = Pick<KernelClient, 'putToolBlocks' | 'putCeiling'>;

/** The ceiling on the monthly cost of a workspace's models. */
const monthlyCeiling = 'ceiling.llm_month';

/**
 * Delivers the settings that the kernel judges by: the blocked tools and the monthly spend ceiling. Each is sealed
 * there under the version of the settings, or confirmed where it is already in force. Throws KernelError, with
 * `SETTINGS_REFUSED` when the kernel refuses them. The first list of blocked tools opens the workspace at the kernel,
 * so it follows the ceiling. Later lists go first: a ceiling in another currency waits until no money is reserved, and
 * a block must not wait.
 */
export async function applySettings(
  sibling: Sibling,
  { isFirst, ...applied }: AppliedSettings,
  signal: AbortSignal,
): Promise<void> {
  for (const apply of isFirst ? [applyCeiling, applyBlocks] : [applyBlocks, applyCeiling])
    await apply(sibling, applied, signal);
}

type Applied = Omit<AppliedSettings, 'isFirst'>;

async function applyBlocks(
  sibling: Sibling,
  { workspaceId: tenant, version, settings: { policyConfig } }: Applied,
  signal: AbortSignal,
): Promise<void> {
  const body = { version, tools: policyConfig.blockedTools };
  accept(await sibling.putToolBlocks({ params: { tenant }, body, signal }).catch(throwKernelError), version);
}

async function applyCeiling(
  sibling: Sibling,
  { workspaceId: tenant, version, settings: { budgetConfig } }: Applied,
  signal: AbortSignal,
): Promise<void> {
  const body = {
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
  accept(await sibling.putCeiling({ params, body, signal }).catch(throwKernelError), version);
}

/** Far below the last version that can be stored, so that later saves always fit. */
const standingMax = 2_000_000_000;
/** The answer for a setting whose version does not rise above the current one. */
const CurrentVersion = z.object({ version: ControlVersion.max(standingMax) });

function accept(answer: RawAnswer<unknown>, version: number): void {
  if (answer.kind === 'replied') return;
  const error = ErrorEnvelope.safeParse(answer.body).data?.error;
  const current = CurrentVersion.safeParse(error?.details).data;
  if (answer.status === 409 && current !== undefined) throw new SettingsRefused({ version, current: current.version });
  if (answer.status === 409 || answer.status === 400)
    throw new KernelError(
      'unreachable',
      'SETTINGS_REFUSED',
      `The kernel refused the settings: ${error?.message ?? ''}`,
    );
  throw new KernelError(
    'unreachable',
    ErrorCode.safeParse(error?.code).data ?? 'GOVERNANCE_REFUSED',
    `The kernel answered ${answer.status}`,
  );
}
