import { z } from 'zod';
import { defineRoute } from './route.ts';

/** The page at the address of a service, for people. Every service has it, and its description. */
export const showFrontPage = defineRoute({
  operation: 'show-front-page',
  summary: 'The name, version and state of this service, and links to its description: a page for people.',
  method: 'GET',
  path: '/',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});

export const getOpenApi = defineRoute({
  operation: 'get-open-api',
  summary: 'The OpenAPI 3.1 description of this service.',
  method: 'GET',
  path: '/openapi.json',
  auth: 'public',
  reply: z.record(z.string(), z.json()),
});

/** The documentation page of services that people open. */
export const showDocs = defineRoute({
  operation: 'show-docs',
  summary: 'The same description as a page for people, which loads nothing and runs nothing.',
  method: 'GET',
  path: '/docs',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});
