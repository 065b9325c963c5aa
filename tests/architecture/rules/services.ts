import type { ImportEdge, ImportGraph } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';

/** Layers of a service, by the first folder inside `src`; a file beside the folders is wiring. */
type Layer = 'routes' | 'store' | 'wiring' | 'domain' | 'generated';

function layerOf(path: string): Layer {
  const inside = insideSrc(path) ?? '';
  if (!inside.includes('/')) return 'wiring';
  const folder = inside.split('/')[0];
  if (folder === 'routes' || folder === 'store' || folder === 'generated') return folder;
  return 'domain';
}

function insideOneService({ from, to }: ImportEdge): boolean {
  return from.startsWith('services/') && to !== null && unitOf(from) === unitOf(to);
}

/** Domain code is handed its collaborators: it never runs a route or wiring, and knows the store by type only. */
export function domainKnowsNoOuterLayer({ edges }: ImportGraph): string[] {
  return edges
    .filter((edge) => insideOneService(edge) && layerOf(edge.from) === 'domain' && !edge.typeOnly)
    .filter(({ to }) => ['routes', 'store', 'wiring', 'generated'].includes(layerOf(to ?? '')))
    .map(({ from, specifier }) => `${from}: domain code may import ${specifier} as a type only`);
}

/** The store speaks of rules in types, and neither knows who calls it nor decides. */
export function storeKnowsRulesByType({ edges }: ImportGraph): string[] {
  return edges
    .filter((edge) => insideOneService(edge) && layerOf(edge.from) === 'store' && !edge.typeOnly)
    .filter(({ to }) => ['routes', 'domain', 'wiring'].includes(layerOf(to ?? '')))
    .map(({ from, specifier }) => `${from}: the store may import ${specifier} as a type only`);
}

/** One route never calls another: what they share is a rule. */
export function routesAreLeaves({ edges }: ImportGraph): string[] {
  return edges
    .filter((edge) => insideOneService(edge) && layerOf(edge.to ?? '') === 'routes')
    .filter(({ from }) => insideSrc(from) !== 'app.ts')
    .map(({ from, specifier }) => `${from}: only app.ts may import the route ${specifier}`);
}
