import { instantOf } from '@countersign/contracts';
import { introspectSession } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { csrfTokenOf } from '../../sessions/csrf-token.ts';
import { holderOf, isLive } from '../../sessions/session-state.ts';
import { hashOf, looksLikeToken } from '../../sessions/tokens.ts';
import { findByAccessToken } from '../../store/sessions.ts';

export const introspectSessionRoute = ({ database, config, now }: Context) =>
  handleSibling(introspectSession)(async ({ body: { token } }) => {
    const over = { active: false as const };
    const session = await findByAccessToken(database.reader, hashOf(token), now());
    if (session === null || !isLive(session, now())) return over;
    if (!looksLikeToken(holderOf(session), 'access', token)) return over;
    const { id: sid, userId: sub, methods, within } = session;
    const answer = { active: true as const, sub, sid, methods, proven_at: instantOf(session.provenAt) };
    if (within === null)
      return { ...answer, kind: 'browser' as const, csrf_token: csrfTokenOf(config.sessionSecret, sid) };
    return { ...answer, kind: 'device' as const, workspace_id: within.workspaceId, role: within.role };
  });
