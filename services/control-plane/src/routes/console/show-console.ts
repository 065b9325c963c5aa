import type { IncomingMessage } from 'node:http';
import { showConsole, showConsoleObject, showConsolePage } from '@countersign/contracts/control-plane';
import { handlePublic, prepared } from '@countersign/service-kit';
import { sitePolicy } from '../../console/site-policy.ts';
import type { Context } from '../../context.ts';

type SiteContext = Pick<Context, 'site'>;

/** Every page of the console is the same document. Its script reads the address in the browser. */
export const showConsoleRoute = (context: SiteContext) => handlePublic(showConsole)(documentOf(context));
export const showConsolePageRoute = (context: SiteContext) => handlePublic(showConsolePage)(documentOf(context));
export const showConsoleObjectRoute = (context: SiteContext) => handlePublic(showConsoleObject)(documentOf(context));

function documentOf({ site: { document } }: SiteContext) {
  const headers = { 'content-security-policy': sitePolicy, 'cache-control': 'no-cache', etag: document.etag };
  return ({ req }: { req: IncomingMessage }) =>
    req.headers['if-none-match'] === document.etag ? prepared(304, '', headers) : prepared(200, document.text, headers);
}
