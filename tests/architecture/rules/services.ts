import type { ImportEdge, ImportGraph } from '../import-graph.ts';
import { insideSrc, packageOf, unitOf } from '../import-graph.ts';

/**
 * Layers of a service (ADR 0003). `operation`: what a request, a message or a clock starts, and what each request passes. `wiring`: what builds the process.
 * `domain`: everything else, which is handed its collaborators.
 */
type Layer = 'operation' | 'store' | 'wiring' | 'domain';

const operationFolders = new Set(['routes', 'orchestrator', 'workers']);
const operationFiles = new Set(['gauges.ts', 'guards.ts', 'handle.ts', 'health.ts']);
const wiringFiles = new Set([
  'main.ts',
  'index.ts',
  'start.ts',
  'app.ts',
  'operations.ts',
  'context.ts',
  'upstreams.ts',
  'config.ts',
]);
/** Where a verdict is made, domain code never reaches for the store: what it decides on is handed to it. */
const deciding = 'services/governance-kernel/';

function layerOf(path: string): Layer {
  const inside = insideSrc(path) ?? '';
  const folder = inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : '';
  if (operationFolders.has(folder) || operationFiles.has(inside)) return 'operation';
  if (folder === 'store' || folder === 'generated') return 'store';
  return wiringFiles.has(inside) ? 'wiring' : 'domain';
}

/** Imports that run, from one file of a service to another file of the same service. */
function runningEdges({ edges }: ImportGraph): (ImportEdge & { to: string })[] {
  return edges.filter(
    (edge): edge is ImportEdge & { to: string } =>
      edge.from.startsWith('services/') && edge.to !== null && !edge.typeOnly && unitOf(edge.from) === unitOf(edge.to),
  );
}

/** In the service that decides, domain code runs neither operations nor the store: it is handed what it needs. */
export function domainIsHandedItsCollaborators(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ from, to }) => from.startsWith(deciding) && layerOf(from) === 'domain' && layerOf(to) !== 'domain')
    .map(({ from, specifier }) => `${from}: domain code may import ${specifier} as a type only`);
}

/** Only wiring runs wiring: everything else knows the context by its type. */
export function onlyWiringKnowsWiring(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ from, to }) => layerOf(from) !== 'wiring' && layerOf(to) === 'wiring')
    .map(({ from, specifier }) => `${from}: may import ${specifier} as a type only`);
}

/**
 * The functions that can call an upstream, each with the one file that may use it. From upstreams.ts the calls go to
 * the dispatch alone.
 */
const holdersOfBareCalls = new Map([
  ['chat/model-upstream.ts', 'upstreams.ts'],
  ['mcp/tool-upstream.ts', 'upstreams.ts'],
  ['mcp/servers.ts', 'upstreams.ts'],
  ['mcp/upstream-server.ts', 'mcp/servers.ts'],
  ['mcp/upstream-transport.ts', 'mcp/upstream-server.ts'],
]);
const clientsOfUpstreams = new Set(['undici', '@modelcontextprotocol/client']);

/** All calls of the kernel to an upstream go through the dispatch: no other file can make one. */
export function onlyDispatchReachesUpstreams({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from, typeOnly }) => from.startsWith(deciding) && !typeOnly)
    .filter(({ from, to, specifier }) => {
      const importer = insideSrc(from) ?? '';
      if (to === null) return clientsOfUpstreams.has(packageOf(specifier)) && !holdersOfBareCalls.has(importer);
      const holder = holdersOfBareCalls.get(insideSrc(to) ?? '');
      return holder !== undefined && holder !== importer;
    })
    .map(({ from, specifier }) => `${from}: reaches an upstream past the dispatch through ${specifier}`);
}

/** One route never calls another: what they share is a rule. */
export function routesAreLeaves(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ to }) => insideSrc(to)?.startsWith('routes/') === true)
    .filter(({ from }) => !['operations.ts', 'app.ts'].includes(insideSrc(from) ?? ''))
    .map(({ from, specifier }) => `${from}: only operations.ts and app.ts may import the route ${specifier}`);
}

/** The libraries of a pure file: none reads, writes or waits. */
const pureLibraries = new Set([
  '@countersign/contracts',
  '@countersign/crypto',
  '@countersign/policy',
  '@countersign/receipts',
  '@countersign/verifier',
  'zod',
  'ulid',
  'node:crypto',
]);

/** The store knows rules by type, and runs only those that are pure: what must be computed under its locks. */
export function storeRunsOnlyPureRules(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ from, to }) => layerOf(from) === 'store' && layerOf(to) !== 'store')
    .flatMap(({ from, to, specifier }) =>
      impurities(graph, to).map((why) => `${from}: imports ${specifier}, which ${why}`),
    );
}

/** Why a file is not pure: what it, or what it runs, imports beyond the pure. */
function impurities(graph: ImportGraph, path: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(path)) return [];
  seen.add(path);
  if (layerOf(path) !== 'domain') return [`is no rule`];
  const running = graph.edges.filter(({ from, typeOnly }) => from === path && !typeOnly);
  return running.flatMap(({ to, specifier }) => {
    if (to !== null && unitOf(to) === unitOf(path)) return impurities(graph, to, seen);
    return pureLibraries.has(packageOf(specifier)) ? [] : [`uses ${specifier}`];
  });
}
