import { putIdentity } from '@countersign/contracts/commercial-gateway';
import { answer, etag, ifMatchTags } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { putSettings } from '../../identity/put-settings.ts';

export const putIdentityRoute = (context: Context) =>
  handlePerson(putIdentity)(async ({ query, body, caller, req, requestId }) => {
    const org = await orgOfAdmin(context, caller, query.org_id);
    const settings = {
      ssoRequired: body.sso_required,
      oidcConnectionId: body.oidc_connection_id,
      roleMappings: body.role_mappings,
      domains: body.domains,
    };
    const by = { org, actor: caller.userId, requestId, tags: ifMatchTags(req) };
    const view = await putSettings(context, settings, by);
    return answer(200, view, etag(String(view.version)));
  });
