import { AppError } from '@countersign/contracts';
import { PublicReplay, type ReplayId } from '@countersign/contracts/control-plane';
import { toTheMinute } from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { findReplay } from '../store/replays.ts';

/**
 * The public part of a replay of the caller's workspace. Throws NOT_FOUND, and ILLEGAL_TRANSITION while it has no
 * findings.
 */
export async function getShownReplay(
  { database }: Pick<Context, 'database'>,
  replay_id: ReplayId,
  { workspaceId }: WorkspaceCaller,
): Promise<PublicReplay> {
  const replay = await findReplay(database.reader, workspaceId, replay_id);
  if (replay === null) throw notFound();
  const { findings, finished_at } = replay;
  if (findings === null || finished_at === null)
    throw new AppError('ILLEGAL_TRANSITION', `The replay is ${replay.state} and has no findings`, {
      param: 'object_id',
    });
  return PublicReplay.parse({ ...findings, replay_id, made_at: toTheMinute(finished_at) });
}
