export { showFrontPage, getOpenApi } from '../front-page.ts';
export { getHealth } from './health.ts';
export { beginLogin, finishLogin, refreshSession } from './login.ts';
export { SessionView, getSession, deleteSession } from './session.ts';
export { introspectSession } from './introspection.ts';
export { cookieNames, refreshPath } from './cookies.ts';
export { sessionEnded } from './events.ts';
export { controlPlaneRoutes } from './routes.ts';
