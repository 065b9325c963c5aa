import { getReplay, ReplayId } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { notFound } from '../../not-found.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findReplay } from '../../store/replays.ts';

export const getReplayRoute = ({ database }: Context) =>
  handleWorkspace(getReplay)(async ({ params: { replay_id }, caller: { workspaceId } }) => {
    const replay = await findReplay(database.reader, workspaceId, knownId(ReplayId, replay_id));
    if (replay === null) throw notFound();
    return replay;
  });
