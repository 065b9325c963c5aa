import { getSsoReadiness } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { ssoReadiness } from '../../oidc/sso-readiness.ts';

export const getSsoReadinessRoute = (context: Pick<Context, 'database' | 'connections'>) =>
  handleSibling(getSsoReadiness)(({ params: { org_id: orgId }, query: { connection_id: connectionId } }) =>
    ssoReadiness(context, { orgId, connectionId }),
  );
