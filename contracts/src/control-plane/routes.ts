import { getOpenApi, showFrontPage } from '../front-page.ts';
import { getHealth } from './health.ts';
import { introspectSession } from './introspection.ts';
import { beginLogin, finishLogin, refreshSession } from './login.ts';
import { deleteSession, getSession } from './session.ts';

/** Every route of the control plane, by the name under which the typed client offers it. */
export const controlPlaneRoutes = {
  showFrontPage,
  getOpenApi,
  getHealth,
  beginLogin,
  finishLogin,
  refreshSession,
  getSession,
  deleteSession,
  introspectSession,
};
