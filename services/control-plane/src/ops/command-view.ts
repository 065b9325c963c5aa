import { PrincipalId } from '@countersign/contracts';
import { OpsCommand } from '@countersign/contracts/control-plane';
import { instant } from '../store/instant.ts';
import type { StoredCommand } from '../store/stops.ts';
import { targetOf } from './target.ts';

/** A command as people see it, while it waits for the kernel, since the kernel holds it, or when it came too late. */
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
    given_at: instant(command.givenAt),
    effective_at: effectiveAt === null ? null : instant(effectiveAt),
    expires_at: expiresAt === null ? null : instant(expiresAt),
    receipt_id: command.receiptId,
    incident_id: command.incidentId,
  });
}
