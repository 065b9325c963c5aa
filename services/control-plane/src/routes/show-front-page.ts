import { frontPageEndpoint } from '@countersign/service-kit';

export const showFrontPageRoute = () =>
  frontPageEndpoint({
    title: 'Countersign control plane',
    what: 'People sign in here with a browser. They come through the gateway, which passes their requests on.',
    links: [
      { path: '/health', says: 'the state of this service, its database, its queue and the gateway' },
      { path: '/openapi.json', says: 'every route, as OpenAPI 3.1' },
    ],
  });
