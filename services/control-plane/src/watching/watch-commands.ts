import { targetOf } from '../ops/target.ts';
import { listOverdue, type StoredCommand } from '../store/stops.ts';
import { reportSighting, type Seen, type Watching } from './report-sighting.ts';

/** The courier delivers within seconds. After this time, the person who stopped something expects it to be stopped. */
const confirmedWithinMs = 30_000;
const commandsMax = 200;
/** One incident per workspace, since an unavailable kernel affects all commands. */
const dedupKey = 'commands:unconfirmed';

/** Reports commands that the kernel has not confirmed. An unconfirmed stop stops nothing. */
export async function watchCommands(context: Watching): Promise<void> {
  const before = new Date(context.now().getTime() - confirmedWithinMs);
  const input = { before, dedupKey, limit: commandsMax };
  for (const command of await context.transaction((tx) => listOverdue(tx, input)))
    await reportSighting(context, command.workspaceId, seenOf(command));
}

function seenOf({ id, kind, scope, workspaceId, givenAt }: StoredCommand): Seen {
  return {
    title: `A command to ${kind} is not confirmed`,
    ...{ severity: 'high', category: 'unconfirmed_command', receipts: [] },
    note: `${id} for ${targetOf(scope, workspaceId) ?? scope} was given at ${givenAt.toISOString()}. Delivery is repeated until the kernel confirms it.`,
    dedupKey,
    sighting: id,
  };
}
