import { AppError, PrincipalId } from '@countersign/contracts';
import { foldedToolName } from '@countersign/policy';

/**
 * The principal that requests approvals of servers, in its folded spelling. The person who asks is the sponsor, so
 * another owner or partner decides, if there is one.
 */
export const registryPrincipal = PrincipalId.parse('mcp-registry');

/**
 * Throws PERMISSION_DENIED for the kernel's own name, in every spelling that looks the same. The kernel acts on
 * approvals that were requested under its name, so no caller may have that name.
 */
export function refuseKernelName(name: string): void {
  if (foldedToolName(name) !== registryPrincipal) return;
  throw new AppError('PERMISSION_DENIED', `The name ${name} is reserved for the kernel. Choose another name`, {
    param: 'principal_id',
  });
}
