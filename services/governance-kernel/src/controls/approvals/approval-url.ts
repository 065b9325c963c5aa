import { WorkspaceId } from '@countersign/contracts';
import type { ApprovalRow } from './approval-row.ts';

/** The addresses where people decide: on the kernel, and in the console for members of a workspace. */
export type DecisionPages = { publicUrl: string; consoleUrl: string | null };

/** Members of a workspace have no key for the kernel's pages, so they decide in the inbox of the console. */
export function approvalUrl(
  { id, tenant }: Pick<ApprovalRow, 'id' | 'tenant'>,
  { publicUrl, consoleUrl }: DecisionPages,
): string {
  if (consoleUrl === null || !WorkspaceId.safeParse(tenant).success) return `${publicUrl}/approvals/${id}`;
  return `${consoleUrl}/console/inbox/${id}`;
}
