import type { PrincipalId, UserId } from '@countersign/contracts';
import { ownActor } from '@countersign/contracts/control-plane';

/** The actor as the audit log names it. */
export function actorOf(by: UserId | PrincipalId | null): string {
  return by ?? ownActor;
}
