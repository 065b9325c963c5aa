import { getPublicReplay, HandleId, ReplayId } from '@countersign/contracts/control-plane';
import { handlePublic } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { knownId } from '../../siblings/known-id.ts';
import { findPublished } from '../../store/evidence-handles.ts';

const Name = HandleId.or(ReplayId);

export const getPublicReplayRoute = ({ database, now }: Context) =>
  handlePublic(getPublicReplay)(async ({ params }) => {
    const name = knownId(Name, params.replay_id);
    const found = await findPublished(database.reader, { kind: 'replay', name, now: now() });
    if (found?.kind !== 'replay') throw notFound();
    return found.shown;
  });
