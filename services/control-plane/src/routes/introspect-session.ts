import { introspectSession } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleSibling } from '../handle.ts';
import { csrfTokenOf } from '../sessions/csrf-token.ts';
import { isLive } from '../sessions/session-state.ts';
import { hashOf, looksLikeToken } from '../sessions/tokens.ts';
import { instant } from '../store/instant.ts';
import { findByAccessToken } from '../store/sessions.ts';

export const introspectSessionRoute = ({ database, config, now }: Context) =>
  handleSibling(introspectSession)(async ({ body: { token } }) => {
    if (!looksLikeToken('access', token)) return { active: false as const };
    const session = await findByAccessToken(database.reader, hashOf(token), now());
    if (session === null || !isLive(session, now())) return { active: false as const };
    return {
      active: true as const,
      sub: session.userId,
      sid: session.id,
      methods: session.methods,
      proven_at: instant(session.provenAt),
      csrf_token: csrfTokenOf(config.sessionSecret, session.id),
    };
  });
