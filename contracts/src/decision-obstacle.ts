import { z } from 'zod';
import { AppError } from './errors.ts';

/** Why a person may not approve a call. */
export const DecisionObstacle = z.enum(['ROLE', 'OWN_REQUEST', 'UNKNOWN_REQUESTER', 'NOT_NAMED', 'ALREADY_APPROVED']);
export type DecisionObstacle = z.infer<typeof DecisionObstacle>;

/** The obstacles as text for people. */
export const obstacleSays: Readonly<Record<DecisionObstacle, string>> = {
  ROLE: 'Only partners and owners can decide',
  OWN_REQUEST: 'You started this run or made this key, so another partner or owner decides',
  UNKNOWN_REQUESTER: 'The run or key that requested this is unknown here, so it can only be denied',
  NOT_NAMED: 'The policy names other approvers for this call',
  ALREADY_APPROVED: 'You approved this, and it waits for another person',
};

type DeciderRelation = {
  /** The person is the requester. */
  isRequester: boolean;
  /** The requester is an agent in a run that the person started, or with a key that they created. */
  isBehind: boolean;
  /** Another partner or owner could decide. */
  isAnotherEntitled: boolean;
};

/**
 * The rule of four eyes. The requester never votes. The person behind the agent approves only if no other entitled
 * person can.
 */
export function isOwnRequest({ isRequester, isBehind, isAnotherEntitled }: DeciderRelation): boolean {
  return isRequester || (isBehind && isAnotherEntitled);
}

/** The error for a vote that this person may not cast. */
export function mayNotDecide(reason: DecisionObstacle): AppError {
  return new AppError('MAY_NOT_DECIDE', obstacleSays[reason], { details: { reason } });
}
