import { frontPageEndpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';

/** Served on both ports. Links to the API contain its address, since the health port does not serve it. */
export const showFrontPageRoute = ({ config: { publicUrl } }: Context) =>
  frontPageEndpoint({
    title: 'Countersign governance kernel',
    what: 'It decides every consequential call of an agent and seals a signed receipt of each decision.',
    links: [
      { path: '/health/ready', says: 'whether it can decide now' },
      { path: '/healthz', says: 'whether it is running' },
      { path: `${publicUrl}/openapi.json`, says: 'every route, as OpenAPI 3.1' },
      { path: `${publicUrl}/api/v1/trust/keys`, says: 'the keys that verify its receipts' },
    ],
  });
