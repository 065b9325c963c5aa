import { frontPageEndpoint } from '@countersign/service-kit';
import type { Context } from '../context.ts';

/** On both ports; the links to the API name its address, since the health port does not serve it. */
export const showFrontPageRoute = ({ config: { publicUrl } }: Context) =>
  frontPageEndpoint({
    title: 'Countersign governance kernel',
    what: 'It decides every consequential call of an agent, seals a signed receipt, and proves it.',
    links: [
      { path: '/health/ready', says: 'whether it can decide now' },
      { path: '/healthz', says: 'whether it runs' },
      { path: `${publicUrl}/openapi.json`, says: 'every route, as OpenAPI 3.1' },
      { path: `${publicUrl}/api/v1/trust/keys`, says: 'the keys that its receipts verify under' },
    ],
  });
