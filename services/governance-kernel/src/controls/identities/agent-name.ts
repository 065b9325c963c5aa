import { AppError } from '@countersign/contracts';
import { isPersonName } from '@countersign/policy';
import { refuseKernelName } from './kernel-name.ts';

/**
 * Throws PERMISSION_DENIED for the name of a person or of the kernel, in every spelling that looks like one. Requesters
 * may not vote on their own requests. An agent with the name of a person would therefore keep that person from voting.
 */
export function requireAgentName(principal: string): void {
  refuseKernelName(principal);
  if (!isPersonName(principal)) return;
  throw new AppError('PERMISSION_DENIED', 'principal_id belongs to a person. Choose another name for the agent', {
    param: 'principal_id',
  });
}
