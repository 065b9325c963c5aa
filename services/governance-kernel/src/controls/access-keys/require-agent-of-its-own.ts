import { AppError } from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { foldedToolName } from '@countersign/policy';
import type { Caller } from '../../call/governed-call.ts';
import { requireAgentName } from '../identities/agent-name.ts';

/**
 * Names of workspace keys and of workspace agents, which only the gateway asserts, in every spelling that normalises to
 * these prefixes.
 */
const gatewayNames = /^(key:|agent:wsp_)/;

/**
 * Owners call through the gateway and may create keys only for agents. An approver's key would vote without a passkey.
 * Decisions of an agent with a person's name would look like the person's own. Throws PERMISSION_DENIED.
 */
export function requireAgentOfItsOwn({ assertion }: Caller, { kind, principal_id: principal }: NewAccessKey): void {
  if (kind === 'agent') requireAgentName(principal);
  if (assertion === undefined) return;
  if (kind !== 'agent')
    throw new AppError('PERMISSION_DENIED', 'Only the operator of the installation can create approver keys', {
      param: 'kind',
    });
  if (gatewayNames.test(foldedToolName(principal)))
    throw new AppError(
      'PERMISSION_DENIED',
      'principal_id is a name of a workspace key or a workspace agent. Choose a different name for the agent',
      { param: 'principal_id' },
    );
}
