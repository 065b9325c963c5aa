import type { PrincipalId } from '@countersign/contracts';
import { foldedToolName } from './tool-name.ts';

/**
 * Names that differ only in case, compatibility forms or invisible characters belong to one person. A quorum counts
 * people, and a requester cannot vote under another spelling. An approver that a rule names is matched exactly.
 */
export function samePerson(left: PrincipalId, right: PrincipalId): boolean {
  // Stryker disable next-line ConditionalExpression: Speed alone: equal names have equal forms.
  return left === right || foldedToolName(left) === foldedToolName(right);
}

/**
 * Whether the name reads like a name that the gateway gives to a person. No agent may have such a name, in any
 * spelling.
 */
export function isPersonName(name: string): boolean {
  return foldedToolName(name).startsWith('usr_');
}
