import { frontPageEndpoint } from '@countersign/service-kit';

export const showFrontPageRoute = () =>
  frontPageEndpoint({
    title: 'Countersign commercial gateway',
    what: 'It keeps plans, usage, invoices and entitlements. People reach it through the gateway.',
    links: [
      { path: '/health', says: 'the status of the service, its database and its queue' },
      { path: '/openapi.json', says: 'every route, as OpenAPI 3.1' },
    ],
  });
