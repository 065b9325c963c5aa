import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** Loose on purpose: the console itself defines its pages, and answers unknown ones. */
const PagePart = z.string().min(1).max(128);

/** The page reads the query of its address. */
const AnyQuery = z.looseObject({});

const page = {
  method: 'GET',
  auth: 'public',
  media: 'html',
  query: AnyQuery,
  reply: z.string(),
} as const;

export const showConsole = defineRoute({
  ...page,
  alsoStatus: [304],
  operation: 'show-console',
  summary: 'The web console. Every page of it is this one document, which asks the public routes for all it shows.',
  path: '/console',
  forward: {},
});

export const showConsolePage = defineRoute({
  ...page,
  alsoStatus: [304],
  operation: 'show-console-page',
  summary: 'The same document at the address of a page.',
  path: '/console/{page}',
  forward: {},
  params: z.strictObject({ page: PagePart }),
});

export const showConsoleObject = defineRoute({
  ...page,
  alsoStatus: [304],
  operation: 'show-console-object',
  summary: 'The same document at the address of one thing on a page.',
  path: '/console/{page}/{id}',
  forward: {},
  params: z.strictObject({ page: PagePart, id: PagePart }),
});

export const getConsoleFile = defineRoute({
  operation: 'get-console-file',
  summary: 'A script or style sheet of the console. Its name holds the hash of its bytes, so it may be kept for ever.',
  method: 'GET',
  path: '/console/assets/{file}',
  auth: 'public',
  forward: {},
  media: 'file',
  params: z.strictObject({ file: PagePart }),
  reply: z.string(),
  errors: ['NOT_FOUND'],
});
