import { targetOf } from '../ops/target.ts';
import { listOverdue, type StoredCommand } from '../store/stops.ts';
import { reportSighting, type Seen, type Watching } from './report-sighting.ts';

/** The courier delivers within seconds; by now, the person who stopped something expects it to be stopped. */
const confirmedWithinMs = 30_000;
const commandsMax = 200;
/** One incident of a workspace: a kernel that is away is away for all that was commanded. */
const dedupKey = 'commands:unconfirmed';

/** Reports stops that were commanded and that the kernel does not confirm: until it does, nothing is stopped by them. */
export async function watchCommands(context: Watching): Promise<void> {
  const before = new Date(context.now().getTime() - confirmedWithinMs);
  const asked = { before, dedupKey, limit: commandsMax };
  for (const command of await context.transaction((tx) => listOverdue(tx, asked)))
    await reportSighting(context, command.workspaceId, seenOf(command));
}

function seenOf({ id, kind, scope, workspaceId, givenAt }: StoredCommand): Seen {
  return {
    title: `A command to ${kind} is not confirmed`,
    ...{ severity: 'high', category: 'unconfirmed_command', receipts: [] },
    note: `${id}, around ${targetOf(scope, workspaceId) ?? scope}, was given at ${givenAt.toISOString()}. It is delivered until the kernel confirms it.`,
    dedupKey,
    sighting: id,
  };
}
