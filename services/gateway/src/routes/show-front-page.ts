import { frontPageEndpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';

export const showFrontPageRoute = ({ config }: Pick<Context, 'config'>) =>
  frontPageEndpoint({
    title: 'Countersign gateway',
    what: 'It is the public entry of a workspace for AI agents: people, tasks, runs and their audit log.',
    links: [
      ...(config.controlPlane === null ? [] : [{ path: '/console', says: 'the web console, for people' }]),
      { path: '/health', says: 'the state of the gateway, its database, its queue and its kernel' },
      { path: '/docs', says: 'every route, as a page' },
      { path: '/openapi.json', says: 'every route, as OpenAPI 3.1' },
    ],
  });
