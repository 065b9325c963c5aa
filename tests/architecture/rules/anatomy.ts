import ts from 'typescript';
import type { ImportGraph, SourceFile } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';
import { exportsOf } from './exports.ts';

/** The files that every service has (ADR 0008), by path inside the service. */
export const pieces = [
  'README.md',
  'prisma/schema.prisma',
  'prisma/migrations',
  'src/index.ts',
  'src/main.ts',
  'src/start.ts',
  'src/config.ts',
  'src/context.ts',
  'src/guards.ts',
  'src/handle.ts',
  'src/health.ts',
  'src/app.ts',
  'src/operations.ts',
  'src/events.ts',
  'src/routes',
  'src/store',
  'tests',
];

/**
 * The required exports of a part. Each name in `all` must be exported. Every export must match `only`, and at least one
 * must match `atLeast`.
 */
type Exported = { all?: readonly string[]; only?: RegExp; atLeast?: RegExp };

const exported: Readonly<Record<string, Exported>> = {
  'main.ts': { only: /^$/ },
  'start.ts': { atLeast: /^start[A-Z]/, only: /^(start|Started|Start)[A-Z]/ },
  'config.ts': { atLeast: /ConfigFrom$/ },
  'context.ts': { all: ['Context', 'createContext'] },
  'guards.ts': { all: ['createGuards', 'callerKey'] },
  'handle.ts': { atLeast: /^handle[A-Z]/, only: /^handle[A-Z]/ },
  'health.ts': { all: ['readinessChecks', 'toldChecks'] },
  'app.ts': { all: ['createApp'] },
  'events.ts': { atLeast: /./ },
};

/** A part has the same exports in every service, so a reader of one service knows them all. */
export function partsExportTheirNames({ files }: ImportGraph): string[] {
  return servicesOf(files).flatMap(({ path, syntax }) => {
    const wanted = exported[insideSrc(path) ?? ''];
    if (wanted === undefined) return [];
    const names = exportsOf(syntax);
    const missing = (wanted.all ?? []).filter((name) => !names.includes(name)).map((name) => `exports no ${name}`);
    const foreign = names.filter((name) => wanted.only?.test(name) === false).map((name) => `exports ${name}`);
    const { atLeast } = wanted;
    const none =
      atLeast && !names.some((name) => atLeast.test(name)) ? [`exports nothing like ${String(atLeast)}`] : [];
    return [...missing, ...foreign, ...none].map((offence) => `${path}: ${offence}`);
  });
}

/** The `index.ts` of a service contains only exports. */
export function indexOnlyNamesExports({ files }: ImportGraph): string[] {
  return servicesOf(files)
    .filter(({ path, syntax }) => insideSrc(path) === 'index.ts' && !syntax.statements.every(ts.isExportDeclaration))
    .map(({ path }) => `${path}: holds more than exports`);
}

const workerFolders = /^(workers|orchestrator)\//;

/** Creating a context starts nothing. start.ts starts the workers, so a test can create a context without workers. */
export function contextStartsNoWorker({ edges }: ImportGraph): string[] {
  return edges
    .filter(({ from }) => from.startsWith('services/') && insideSrc(from) === 'context.ts')
    .filter(({ to, typeOnly }) => to !== null && !typeOnly && workerFolders.test(insideSrc(to) ?? ''))
    .map(({ from, specifier }) => `${from}: runs ${specifier}; only start.ts starts workers`);
}

/** Outside config.ts, settings have domain names and not the names of environment variables. */
export function onlyConfigKnowsVariables({ files }: ImportGraph): string[] {
  return servicesOf(files)
    .filter(({ path }) => insideSrc(path) !== 'config.ts')
    .flatMap(({ path, syntax }) =>
      [...variablesIn(syntax)].map((name) => `${path}: knows ${name}; only config.ts may`),
    );
}

/** Start-up steps that the skeleton in service-kit runs for every service. */
const stepsOfSkeleton = new Set([
  'createHttpApp',
  'createLifecycle',
  'healthEndpoints',
  'openTelemetry',
  'runService',
  'serveHttp',
]);
const entries = new Map([
  ['start.ts', 'startStandardService'],
  ['main.ts', 'runStandardService'],
]);

/** `countersign serve` runs in the command's own process, without a service's database, queue and health port. */
const withoutSkeleton = 'services/governance-kernel/src/local-boundary.ts';

/** A service starts with the skeleton of service-kit and runs none of the skeleton's steps itself. */
export function startsBySkeleton({ files }: ImportGraph): string[] {
  return servicesOf(files).flatMap(({ path, syntax }) => {
    const entry = entries.get(insideSrc(path) ?? '');
    const missing = entry === undefined || calls(syntax, new Set([entry])) ? [] : [`${path}: does not call ${entry}`];
    const takesStep = path !== withoutSkeleton && calls(syntax, stepsOfSkeleton);
    const own = takesStep ? [`${path}: takes a step of the skeleton; only service-kit may`] : [];
    return [...missing, ...own];
  });
}

const makers = new Set(['newEvent', 'recordEvents']);

/** All events of a service are created in one file. The store only writes them. */
export function onlyEventsMakesEvents({ files }: ImportGraph): string[] {
  return servicesOf(files)
    .filter(({ path }) => insideSrc(path) !== 'events.ts' && insideSrc(path)?.startsWith('store/') !== true)
    .filter(({ syntax }) => calls(syntax, makers))
    .map(({ path }) => `${path}: makes an event; only events.ts may`);
}

function servicesOf(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => unitOf(path).startsWith('services/') && insideSrc(path) !== null);
}

/** Finds environment variables in names and in texts. Comments may name the variables that an operator sets. */
function variablesIn(root: ts.Node, found: Set<string> = new Set()): Set<string> {
  const text =
    ts.isIdentifier(root) || ts.isStringLiteralLike(root) || ts.isTemplateLiteralToken(root) ? root.text : '';
  for (const [name] of text.matchAll(/\bGOV_[A-Z_]+/g)) found.add(name);
  ts.forEachChild(root, (node) => void variablesIn(node, found));
  return found;
}

function calls(root: ts.Node, names: ReadonlySet<string>): boolean {
  if (ts.isCallExpression(root)) {
    const { expression } = root;
    const called = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
    if (ts.isIdentifier(called) && names.has(called.text)) return true;
  }
  return ts.forEachChild(root, (node) => calls(node, names) || undefined) === true;
}
