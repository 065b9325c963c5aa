import { z } from 'zod';
import { defineRoute } from '../route.ts';

/** Accepts any text, since the console defines its pages and handles unknown ones. */
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
  summary: 'Get the web console. All its pages are this one document, which reads its data from the public routes.',
  path: '/console',
  forward: {},
});

export const showConsolePage = defineRoute({
  ...page,
  alsoStatus: [304],
  operation: 'show-console-page',
  summary: 'Get the console document at the address of a page.',
  path: '/console/{page}',
  forward: {},
  params: z.strictObject({
    /** The name of the page. */
    page: PagePart,
  }),
});

export const showConsoleObject = defineRoute({
  ...page,
  alsoStatus: [304],
  operation: 'show-console-object',
  summary: 'Get the console document at the address of one object.',
  path: '/console/{page}/{id}',
  forward: {},
  params: z.strictObject({
    /** The name of the page. */
    page: PagePart,
    id: PagePart,
  }),
});

export const getConsoleFile = defineRoute({
  operation: 'get-console-file',
  summary:
    'Get a script or style sheet of the console. Its name contains the hash of its contents, so it can be cached ' +
    'permanently.',
  method: 'GET',
  path: '/console/assets/{file}',
  auth: 'public',
  forward: {},
  media: 'file',
  params: z.strictObject({ file: PagePart }),
  reply: z.string(),
  errors: ['NOT_FOUND'],
});
