import type { PrincipalId } from '@countersign/contracts';
import { foldedToolName } from './tool-name.ts';

/**
 * Names that differ in case, in compatibility forms or in invisible characters are one person's. A quorum counts
 * people, and a requester does not decide under another spelling. An approver that a rule names is matched exactly.
 */
export function samePerson(left: PrincipalId, right: PrincipalId): boolean {
  // Stryker disable next-line ConditionalExpression: Speed alone: equal names read alike.
  return left === right || foldedToolName(left) === foldedToolName(right);
}

/** Whether a reader takes this for the name of a person, as the gateway gives them. No agent is called so, in whatever spelling. */
export function isPersonName(name: string): boolean {
  return foldedToolName(name).startsWith('usr_');
}
