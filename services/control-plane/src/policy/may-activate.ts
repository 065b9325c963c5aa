import { mayCall, rightsOf } from '@countersign/contracts';
import { activatePolicy } from '@countersign/contracts/control-plane';
import type { WorkspaceCaller } from '../guards.ts';

/** Reports of these callers hold the draft, and no hold stops them. */
export function mayActivate({ role }: Pick<WorkspaceCaller, 'role'>): boolean {
  return mayCall(rightsOf[role], activatePolicy);
}
