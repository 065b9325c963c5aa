import { getIdentity } from '@countersign/contracts/commercial-gateway';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { settingsView } from '../../identity/settings-view.ts';

export const getIdentityRoute = (context: Context) =>
  handlePerson(getIdentity)(async ({ query, caller }) => {
    const org = await orgOfAdmin(context, caller, query.org_id);
    const view = await context.snapshot((reader) => settingsView(reader, { org, now: context.now() }));
    return answer(200, view, etag(String(view.version)));
  });
