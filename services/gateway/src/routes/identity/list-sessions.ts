import { listSessions } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSession } from '../../handle.ts';
import { listSessionsOf } from '../../store/sessions.ts';

export const listSessionsRoute = (context: Context) =>
  handleSession(listSessions)(({ query, caller: { session } }) =>
    listSessionsOf(context.database.reader, { ...session, now: context.now() }, query),
  );
