import { frontPageEndpoint } from '@countersign/service-kit';

export const frontPageRoute = () =>
  frontPageEndpoint({
    title: 'Countersign gateway',
    what: 'It is the public door of a workspace for AI agents: people, tasks, runs and their audit.',
    links: [
      { path: '/health', says: 'how it is, with its database, its queue and its kernel' },
      { path: '/docs', says: 'every route, to be read' },
      { path: '/openapi.json', says: 'every route, as OpenAPI 3.1' },
    ],
  });
