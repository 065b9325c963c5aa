import { SignInId } from '@countersign/contracts';
import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();

/** The id of a new session; those made by one process rise strictly. */
export function newSessionId(): SignInId {
  return SignInId.parse(`ses_${nextUlid()}`);
}
