import { acceptInvite } from '@countersign/contracts/gateway';
import { bearerToken, handlePublic } from '@countersign/service-kit';
import { personAtPage } from '../../console/person-at-page.ts';
import type { Context } from '../../context.ts';
import { authenticate } from '../../identity/authenticate.ts';
import { requireSso } from '../../identity/require-sso.ts';
import { sendCode } from '../../identity/send-code.ts';
import { mayBeShownCode } from '../../identity/shows-code.ts';
import { acceptInviteBy } from '../../members/accept-invite.ts';

export const acceptInviteRoute = (context: Context) =>
  handlePublic(acceptInvite, { rateLimit: 'auth' })(
    async ({ params: { token }, body: { email }, req, requestId, log }) => {
      const bringsToken = req.headers.authorization !== undefined;
      const user = bringsToken
        ? (await authenticate(context, bearerToken(req))).user
        : await personAtPage(context, req);
      if (user === null) await requireSso(context.database.reader, { email });
      const { invite, joined } = await acceptInviteBy(context, { token, email, user, requestId });
      const accepted = true as const;
      if (joined === null) {
        const sent = await sendCode(context, { email, invite, isLocal: mayBeShownCode(req), log });
        return { accepted, verificationRequired: true as const, ...sent };
      }
      const workspace = { id: joined.workspaceId, name: joined.workspaceName };
      return { accepted, verificationRequired: false as const, workspace, role: joined.role };
    },
  );
