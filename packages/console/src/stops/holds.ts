import type { GivenCommand, Incident, OpsOverview } from '@countersign/contracts/control-plane';

/** A command, and the local time of its answer in milliseconds. */
export type Options = { command: GivenCommand; atMs: number };

/** Whether the reported result of a stop may still be current. `ops` was read at `readAtMs`. */
export function holdsIn({ command, atMs }: Options, ops: OpsOverview, readAtMs: number): boolean {
  if (readAtMs <= atMs) return true;
  const { command_id, target, state, kind, epoch } = command;
  if (state !== 'effective') return ops.unconfirmed.some((each) => each.command_id === command_id);
  if (ops.kernel === 'unreachable' || ops.more_fences) return true;
  const fence = ops.fences.find((each) => each.target === target);
  return kind === 'open' ? fence === undefined : fence?.epoch === epoch;
}

/** Whether the reported result of a stop may still be current, according to its incident. */
export function holdsFor({ command_id, state }: GivenCommand, { commands, standing }: Incident): boolean {
  const now = commands.find((each) => each.command_id === command_id);
  if (now === undefined) return true; // the incident was read before the stop
  return now.state === state && (state !== 'effective' || standing.some((each) => each.command_id === command_id));
}
