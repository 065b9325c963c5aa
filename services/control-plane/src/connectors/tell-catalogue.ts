import type { Context } from '../context.ts';
import { readCatalogue } from './catalogue.ts';

/** A worker without anything to stop. */
type Announcement = Record<string, never>;

/**
 * Logs at startup whether the catalogue verifies, if one is configured. An invalid catalogue does not stop the service.
 */
export async function tellCatalogue({
  config: { catalogue },
  log,
}: Pick<Context, 'config' | 'log'>): Promise<Announcement> {
  if (catalogue === null) return {};
  const { path } = catalogue;
  try {
    log.info('catalogue.verified', { path, connectors: (await readCatalogue(catalogue)).length });
  } catch (error) {
    log.error('catalogue.refused', { path, error });
  }
  return {};
}
