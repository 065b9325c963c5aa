import type { GivenCommand, Incident, OpsOverview } from '@countersign/contracts/control-plane';

/** A command and the time of its answer here, in milliseconds. */
export type Given = { command: GivenCommand; atMs: number };

/** Whether what was said of a stop as it was given may still hold, by an overview that was read at `readAtMs`. */
export function holdsIn({ command, atMs }: Given, ops: OpsOverview, readAtMs: number): boolean {
  if (readAtMs <= atMs) return true;
  const { command_id, target, state, kind, epoch } = command;
  if (state !== 'effective') return ops.unconfirmed.some((each) => each.command_id === command_id);
  if (ops.kernel === 'unreachable' || ops.more_fences) return true;
  const fence = ops.fences.find((each) => each.target === target);
  return kind === 'open' ? fence === undefined : fence?.epoch === epoch;
}

/** The same, by an incident for which it was given. */
export function holdsFor({ command_id, state }: GivenCommand, { commands, standing }: Incident): boolean {
  const now = commands.find((each) => each.command_id === command_id);
  if (now === undefined) return true; // read before it was given
  return now.state === state && (state !== 'effective' || standing.some((each) => each.command_id === command_id));
}
