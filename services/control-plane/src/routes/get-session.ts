import { getSession } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handlePerson } from '../handle.ts';
import { sessionView } from '../sessions/session-view.ts';
import { requireSession } from '../sessions/require-session.ts';

export const getSessionRoute = (context: Context) =>
  handlePerson(getSession)(async ({ caller }) =>
    sessionView(await requireSession(context, caller), context.config.sessionSecret),
  );
