import type { PrincipalId, UserId } from '@countersign/contracts';
import { ownActor } from '@countersign/contracts/control-plane';

/** Who acts, as the audit log names them. */
export function actorOf(by: UserId | PrincipalId | null): string {
  return by ?? ownActor;
}
