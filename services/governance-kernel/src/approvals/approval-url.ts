import { WorkspaceId } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/** Where people decide: below the kernel's own address, and, for members of a workspace, in the console. */
export type DecisionPages = { publicUrl: string; consoleUrl: string | null };

/** Members of a workspace have no key for the kernel's pages: where there is a console, they decide in its inbox. */
export function approvalUrl(
  { id, tenant }: Pick<ApprovalRow, 'id' | 'tenant'>,
  { publicUrl, consoleUrl }: DecisionPages,
): string {
  if (consoleUrl === null || !WorkspaceId.safeParse(tenant).success) return `${publicUrl}/approvals/${id}`;
  return `${consoleUrl}/console/inbox/${id}`;
}
