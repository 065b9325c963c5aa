import ts from 'typescript';
import type { ImportEdge, ImportGraph } from '../import-graph.ts';
import { insideSrc, packageOf, unitOf } from '../import-graph.ts';

/**
 * Layers of a service (ADR 0003). `operation`: code that a request, a message or a timer starts, and the middleware of
 * requests. `wiring`: code that builds the process. `domain`: everything else, which receives its collaborators.
 */
type Layer = 'operation' | 'store' | 'wiring' | 'domain';

const operationFolders = new Set(['routes', 'orchestrator', 'workers']);
const operationFiles = new Set(['gauges.ts', 'guards.ts', 'handle.ts', 'handle-once.ts', 'health.ts']);
const wiringFiles = new Set([
  'main.ts',
  'index.ts',
  'start.ts',
  'app.ts',
  'operations.ts',
  'context.ts',
  'upstreams.ts',
  'registry-wiring.ts',
  'session-wiring.ts',
  'config.ts',
  'local-boundary.ts',
]);
/**
 * The kernel makes the verdicts, so its domain code never imports the store. It receives the data that it decides on.
 */
const deciding = 'services/governance-kernel/';

function layerOf(path: string): Layer {
  const inside = insideSrc(path) ?? '';
  const folder = inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : '';
  if (operationFolders.has(folder) || operationFiles.has(inside)) return 'operation';
  if (folder === 'store' || folder === 'generated') return 'store';
  return wiringFiles.has(inside) ? 'wiring' : 'domain';
}

/** Imports at run time, between two files of one service. */
function runningEdges({ edges }: ImportGraph): (ImportEdge & { to: string })[] {
  return edges.filter(
    (edge): edge is ImportEdge & { to: string } =>
      edge.from.startsWith('services/') && edge.to !== null && !edge.typeOnly && unitOf(edge.from) === unitOf(edge.to),
  );
}

/**
 * Domain code runs no operation and no wiring, and receives the collaborators that it uses, never the whole context. In
 * the deciding service it does not run the store either.
 */
export function domainIsHandedItsCollaborators(graph: ImportGraph): string[] {
  const running = runningEdges(graph)
    .filter(({ from, to }) => layerOf(from) === 'domain' && !mayRun(from, layerOf(to)))
    .map(({ from, specifier }) => `${from}: domain code may import ${specifier} as a type only`);
  const domain = graph.files.filter(({ path }) => path.startsWith('services/') && layerOf(path) === 'domain');
  const whole = domain.flatMap(({ path, syntax }) =>
    importsContext(syntax) && receivesWholeContext(syntax)
      ? [`${path}: receives the whole Context; name the members with Pick<Context, …>`]
      : [],
  );
  return [...running, ...whole];
}

function mayRun(from: string, layer: Layer): boolean {
  return layer === 'domain' || (layer === 'store' && !from.startsWith(deciding));
}

function importsContext({ statements }: ts.SourceFile): boolean {
  return statements.some(
    (node) =>
      ts.isImportDeclaration(node) &&
      ts.isStringLiteral(node.moduleSpecifier) &&
      /(^|\/)context(-groups)?\.ts$/.test(node.moduleSpecifier.text),
  );
}

/** Whether a type of the file is `Context` itself. `Pick<Context, …>` and `Context['config']` name a part of it. */
function receivesWholeContext(syntax: ts.SourceFile): boolean {
  let isWhole = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIndexedAccessTypeNode(node)) return;
    if (ts.isTypeReferenceNode(node)) {
      const name = ts.isIdentifier(node.typeName) ? node.typeName.text : '';
      if (name === 'Context') isWhole = true;
      if (name === 'Pick') return;
    }
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return isWhole;
}

/** Only wiring runs wiring. Other code imports only the type of the context. */
export function onlyWiringKnowsWiring(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ from, to }) => layerOf(from) !== 'wiring' && layerOf(to) === 'wiring')
    .map(({ from, specifier }) => `${from}: may import ${specifier} as a type only`);
}

/** The files that can call an upstream, each with the one file that may run it. Only the dispatch uses upstreams.ts. */
const holdersOfBareCalls = new Map([
  ['doors/chat/model-upstream.ts', 'upstreams.ts'],
  ['doors/mcp/tool-upstream.ts', 'upstreams.ts'],
  ['doors/mcp/servers.ts', 'upstreams.ts'],
  ['doors/mcp/upstream-server.ts', 'doors/mcp/servers.ts'],
  ['doors/mcp/upstream-transport.ts', 'doors/mcp/upstream-server.ts'],
]);
const clientsOfUpstreams = new Set(['undici', '@modelcontextprotocol/client']);

/** All calls of the kernel to an upstream go through the dispatch. No other file can make one. */
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

/** Routes never call each other. Shared code belongs in a rule. */
export function routesAreLeaves(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ to }) => insideSrc(to)?.startsWith('routes/') === true)
    .filter(({ from }) => !['operations.ts', 'app.ts', 'local-boundary.ts'].includes(insideSrc(from) ?? ''))
    .map(({ from, specifier }) => `${from}: only the wiring of routes may import the route ${specifier}`);
}

/** The libraries that a pure file may import. None of them reads, writes or waits. */
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

/** The store imports rules as types. It runs only pure rules, which it must compute under its locks. */
export function storeRunsOnlyPureRules(graph: ImportGraph): string[] {
  return runningEdges(graph)
    .filter(({ from, to }) => layerOf(from) === 'store' && layerOf(to) !== 'store')
    .flatMap(({ from, to, specifier }) =>
      impurities(graph, to).map((why) => `${from}: imports ${specifier}, which ${why}`),
    );
}

/** The reasons why a file is not pure: its own imports outside the pure libraries, and those of files that it runs. */
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
