import { finishReauth } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handlePerson } from '../../handle.ts';
import { passkeyRefused, proveByPasskey } from '../../passkeys/prove-by-passkey.ts';
import { codeInvalid } from '../../sessions/code-invalid.ts';
import { proveByCode } from '../../sessions/prove-by-code.ts';
import { recordProof } from '../../sessions/record-proof.ts';
import { requireSession } from '../../sessions/require-session.ts';
import { sessionView } from '../../sessions/session-view.ts';
import { hashOf } from '../../sessions/tokens.ts';
import { findOpenLogin } from '../../store/logins.ts';

export const finishReauthRoute = (context: Context) =>
  handlePerson(finishReauth, { rateLimit: 'auth' })(
    async ({ caller, body: { login_id, code, assertion }, requestId }) => {
      const session = await requireSession(context, caller);
      const idHash = hashOf(login_id);
      const login = await findOpenLogin(context.database.reader, idHash, context.now());
      if (login?.sessionId !== session.id) throw codeInvalid();
      const { statement } = login;
      if (code !== undefined && statement === null) await proveByCode(context, session, { idHash, code });
      else if (assertion === undefined || statement === null) throw codeInvalid();
      else if ((await proveByPasskey(context, { idHash, statement, assertion })).userId !== session.userId)
        throw passkeyRefused();
      const method = statement === null ? 'code' : 'passkey';
      const proven = await recordProof(context, session, { method, requestId });
      return sessionView(proven, context.config.sessionSecret);
    },
  );
