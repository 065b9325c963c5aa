import { AppError } from '@countersign/contracts';
import { isGovernedChange } from '@countersign/contracts/governance-kernel';
import type { Caller } from './governed-call.ts';

/**
 * Only people change the rules for agents. An owner asserted by the gateway may propose governed changes and nothing
 * else. A caller with an agent's credential cannot propose a governed change, even if a rule would allow it. Throws
 * PERMISSION_DENIED.
 */
export function requireProposer(action: string, caller: Caller): void {
  const isPerson = caller.assertion !== undefined && caller.assertion.role !== 'agent';
  if (isGovernedChange(action) ? isAgent(caller) : isPerson)
    throw new AppError(
      'PERMISSION_DENIED',
      isPerson
        ? 'People can only propose governed changes on this route. Calls belong to agents'
        : 'Only a person can propose this change',
      { param: 'action' },
    );
}

function isAgent({ accessKey, agentKey, isVisitor, assertion }: Caller): boolean {
  return accessKey !== undefined || agentKey !== undefined || isVisitor === true || assertion?.role === 'agent';
}
