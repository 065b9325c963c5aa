import { listLiveSessions } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { listLiveAmong } from '../../store/sessions.ts';

export const listLiveSessionsRoute = ({ database, now }: Context) =>
  handleSibling(listLiveSessions)(async ({ body: { session_ids } }) => ({
    live: await listLiveAmong(database.reader, session_ids, now()),
  }));
