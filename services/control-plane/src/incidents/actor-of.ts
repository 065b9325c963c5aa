import type { UserId } from '@countersign/contracts';
import { ownActor } from '@countersign/contracts/control-plane';

/** Who acts, as the audit log names them. */
export function actorOf(by: UserId | null): string {
  return by ?? ownActor;
}
