import { agentOf, PrincipalId, TenantId } from '@countersign/contracts';
import type { Asserted } from '@countersign/service-kit';

/** Who asks: the agent of one workspace, within one run. */
export type Asker = { workspaceId: string; runId: string };

/** A step as it is put to the kernel. The key makes a repeated question the same question. */
export type GovernedStep = Asker & {
  idempotencyKey: string;
  approvalGrant: string | null;
  startedAt: Date;
  signal: AbortSignal;
};

/** A call of a tool; `args` is canonical JSON text. */
export type GovernedCall = { tool: string; args: string };

/** The agent of a workspace, as the kernel is told of it: its assertion opens the governed doors, and never votes. */
export function assertedAgent(workspaceId: string): Asserted {
  return { workspace_id: TenantId.parse(workspaceId), sub: PrincipalId.parse(agentOf(workspaceId)), role: 'agent' };
}
