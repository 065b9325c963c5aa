import type { IncomingMessage } from 'node:http';
import { showConsole, showConsoleObject, showConsolePage } from '@countersign/contracts/control-plane';
import { handlePublic, prepared } from '@countersign/service-kit';
import { sitePolicy } from '../console/site-policy.ts';
import type { Context } from '../context.ts';

/** One document at each address of the console: which page it shows, it reads there itself. */
export const showConsoleRoutes = ({ site: { document } }: Pick<Context, 'site'>) => {
  const headers = { 'content-security-policy': sitePolicy, 'cache-control': 'no-cache', etag: document.etag };
  const answer = ({ req }: { req: IncomingMessage }) =>
    req.headers['if-none-match'] === document.etag ? prepared(304, '', headers) : prepared(200, document.text, headers);
  return [
    handlePublic(showConsole)(answer),
    handlePublic(showConsolePage)(answer),
    handlePublic(showConsoleObject)(answer),
  ];
};
