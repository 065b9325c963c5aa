import { AppError } from '@countersign/contracts';
import type { NewAccessKey } from '@countersign/contracts/governance-kernel';
import { foldedToolName } from '@countersign/policy';
import type { Caller } from '../call/governed-call.ts';
import { requireAgentName } from '../identities/agent-name.ts';

/** Keys of workspaces and their agents, for which the gateway alone speaks, in the spelling that is left for a reader. */
const gatewayNames = /^(key:|agent:wsp_)/;

/**
 * The only keys that an owner may make through the gateway: those of an agent of its own. A key of an approver would
 * vote without a passkey, and an agent under a person's name would leave decisions that the person did not take. Throws
 * PERMISSION_DENIED.
 */
export function requireAgentOfItsOwn({ assertion }: Caller, { kind, principal_id: principal }: NewAccessKey): void {
  if (kind === 'agent') requireAgentName(principal);
  if (assertion === undefined) return;
  if (kind !== 'agent')
    throw new AppError('PERMISSION_DENIED', 'Only the operator of the installation makes keys of approvers', {
      param: 'kind',
    });
  if (gatewayNames.test(foldedToolName(principal)))
    throw new AppError('PERMISSION_DENIED', 'This name is not an agent’s own', { param: 'principal_id' });
}
