import { z } from 'zod';
import { defineRoute } from './route.ts';

/** The front page of a service. Every service has it, and an OpenAPI document. */
export const showFrontPage = defineRoute({
  operation: 'show-front-page',
  summary: 'Show a page with the name, version and state of this service, and links to its documentation.',
  method: 'GET',
  path: '/',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});

export const getOpenApi = defineRoute({
  operation: 'get-open-api',
  summary: 'Get the OpenAPI 3.1 description of this service.',
  method: 'GET',
  path: '/openapi.json',
  auth: 'public',
  reply: z.record(z.string(), z.json()),
});

/** The documentation page. Only services that people open in a browser have it. */
export const showDocs = defineRoute({
  operation: 'show-docs',
  summary: 'Show the OpenAPI description as a page without scripts or external resources.',
  method: 'GET',
  path: '/docs',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});
