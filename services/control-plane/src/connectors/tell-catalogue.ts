import type { Context } from '../context.ts';
import { readCatalogue } from './catalogue.ts';

/** A worker that has ended. */
type Told = Record<string, never>;

/** Says at the start whether there are connectors to install. A catalogue that is refused stops nothing else. */
export async function tellCatalogue({ config: { catalogue }, log }: Context): Promise<Told> {
  if (catalogue === null) return {};
  const { path } = catalogue;
  try {
    log.info('catalogue.verified', { path, connectors: (await readCatalogue(catalogue)).length });
  } catch (error) {
    log.error('catalogue.refused', { path, error });
  }
  return {};
}
