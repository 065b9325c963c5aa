import { mayCall, rightsOf } from '@countersign/contracts';
import { activatePolicy } from '@countersign/contracts/control-plane';
import type { WorkspaceCaller } from '../guards.ts';

/**
 * Whether the caller may activate policies. A report that such a caller requests locks the draft for all people who may
 * not activate policies.
 */
export function mayActivate({ role }: Pick<WorkspaceCaller, 'role'>): boolean {
  return mayCall(rightsOf[role], activatePolicy);
}
