import { AppError } from '@countersign/contracts';
import { isGovernedChange } from '@countersign/contracts/governance-kernel';
import type { Caller } from './governed-call.ts';

/**
 * Only people change the rules for agents. An owner for whom the gateway speaks proposes governed changes and nothing
 * else. A caller with the credential of an agent never proposes one, so no rule can allow it. Throws PERMISSION_DENIED.
 */
export function requireProposer(action: string, caller: Caller): void {
  const isPerson = caller.assertion !== undefined && caller.assertion.role !== 'agent';
  if (isGovernedChange(action) ? isAgent(caller) : isPerson)
    throw new AppError(
      'PERMISSION_DENIED',
      isPerson
        ? 'People propose governed changes here, and leave calls to their agents'
        : 'A person proposes this change',
      { param: 'action' },
    );
}

function isAgent({ accessKey, agentKey, isVisitor, assertion }: Caller): boolean {
  return accessKey !== undefined || agentKey !== undefined || isVisitor === true || assertion?.role === 'agent';
}
