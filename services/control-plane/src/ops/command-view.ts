import { instantOrNull, instantOf, PrincipalId } from '@countersign/contracts';
import { OpsCommand } from '@countersign/contracts/control-plane';
import type { StoredCommand } from '../store/stops.ts';
import { targetOf } from './target.ts';

/** A command as people see it: waiting for the kernel, in force at the kernel, or too late. */
export function commandView(command: StoredCommand): OpsCommand {
  const { effectiveAt, expiresAt } = command;
  return OpsCommand.parse({
    command_id: command.id,
    target: targetOf(command.scope, command.workspaceId),
    kind: command.kind,
    epoch: command.epoch,
    state: command.state,
    reason: command.reason,
    limit: command.callLimit,
    window_seconds: command.windowSeconds,
    given_by: PrincipalId.parse(command.givenBy),
    given_at: instantOf(command.givenAt),
    effective_at: instantOrNull(effectiveAt),
    expires_at: instantOrNull(expiresAt),
    receipt_id: command.receiptId,
    incident_id: command.incidentId,
  });
}
