import { AppError } from '@countersign/contracts';
import { getConsoleFile } from '@countersign/contracts/control-plane';
import { handlePublic, takenOver } from '@countersign/service-kit';
import { acceptsGzip } from '../../console/accepts-gzip.ts';
import { sitePolicy } from '../../console/site-policy.ts';
import type { Context } from '../../context.ts';

/** One year. A changed file gets a different name, so a cached file is never outdated. */
const keptFor = 'public, max-age=31536000, immutable';

export const getConsoleFileRoute = ({ site }: Pick<Context, 'site'>) =>
  handlePublic(getConsoleFile)(({ params: { file }, req, res }) => {
    const found = site.files.get(file);
    if (found === undefined)
      throw new AppError('NOT_FOUND', 'The console has no file of this name. Load the page again');
    const isGzipped = acceptsGzip(req.headers['accept-encoding']);
    const bytes = isGzipped ? found.gzipped : found.bytes;
    res.writeHead(200, {
      'content-type': found.type,
      'content-length': bytes.length,
      ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
      vary: 'accept-encoding',
      'cache-control': keptFor,
      // Files have the policy too, because a worker runs under the policy of its own file.
      'content-security-policy': sitePolicy,
      'cross-origin-resource-policy': 'same-origin',
    });
    res.end(bytes);
    return takenOver;
  });
