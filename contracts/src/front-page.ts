import { z } from 'zod';
import { defineRoute } from './route.ts';

/** What a person finds who opens the address of a service. Every service has it, and its description. */
export const showFrontPage = defineRoute({
  operation: 'show-front-page',
  summary: 'What this is, how it is, and where it is described: a page for people.',
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

/** Of the services that people come to. */
export const showDocs = defineRoute({
  operation: 'show-docs',
  summary: 'The same description as a page for people, which loads nothing and runs nothing.',
  method: 'GET',
  path: '/docs',
  auth: 'public',
  media: 'html',
  reply: z.string(),
});
