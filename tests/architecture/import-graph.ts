import { serviceNames } from '@countersign/services';
import ts from 'typescript';

/** One import or re-export of a source file. `to` is a file of the repository, or `null` for a package from outside. */
export type ImportEdge = { from: string; specifier: string; to: string | null; typeOnly: boolean };

export type SourceFile = { path: string; syntax: ts.SourceFile };

/** The sources of the repository, by path from its root, with their imports. */
export type ImportGraph = { files: SourceFile[]; edges: ImportEdge[] };

/** A rule returns one line for each offence. The line begins with the offending file. */
export type Rule = (graph: ImportGraph) => string[];

/** Reads imports with the compiler's own parser, so that comments and strings never count as imports. */
export function graphOf(sources: Record<string, string>): ImportGraph {
  return graphOfFiles(Object.entries(sources).map(([path, text]) => ({ path, syntax: parse(path, text) })));
}

/** Nodes have no parent links. With them, parsing the repository takes almost twice the time. */
export function parse(path: string, text: string): ts.SourceFile {
  return ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
}

export function graphOfFiles(files: SourceFile[]): ImportGraph {
  const sources = new Set(files.map(({ path }) => path));
  // A package entry is a file, or a folder with an index.
  const written = (to: string): string => {
    const index = to.replace(/\.ts$/, '/index.ts');
    return !sources.has(to) && sources.has(index) ? index : to;
  };
  const edges = files.flatMap(({ path, syntax }) =>
    importsOf(syntax).map(({ specifier, typeOnly }) => {
      const to = resolve(path, specifier);
      return { from: path, specifier, to: to === null ? null : written(to), typeOnly };
    }),
  );
  return { files, edges };
}

type Import = { specifier: string; typeOnly: boolean };

function importsOf(syntax: ts.SourceFile): Import[] {
  return mayImport(syntax).flatMap((node) => importOf(node) ?? []);
}

/** The nodes that may import: all nodes of a file that contains `import(`, else only its statements. */
export function mayImport(syntax: ts.SourceFile): readonly ts.Node[] {
  return syntax.text.includes('import(') ? nodesOf(syntax) : syntax.statements;
}

/** A node and everything inside it. */
export function nodesOf(root: ts.Node): ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(root);
  return nodes;
}

/** A dotted name as it is written, such as `pg.Pool`. The text is empty for any other expression. */
export function dottedName(node: ts.Node): string {
  if (ts.isIdentifier(node)) return node.text;
  if (!ts.isPropertyAccessExpression(node)) return '';
  const object = dottedName(node.expression);
  return object === '' ? '' : `${object}.${node.name.text}`;
}

function importOf(node: ts.Node): Import | undefined {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier))
    return { specifier: node.moduleSpecifier.text, typeOnly: isTypeOnly(node.importClause) };
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier))
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly };
  const dynamic = ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword;
  const specifier = dynamic ? node.arguments[0] : undefined;
  if (specifier && ts.isStringLiteralLike(specifier)) return { specifier: specifier.text, typeOnly: false };
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return { specifier: node.argument.literal.text, typeOnly: true };
  return undefined;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const names = clause.namedBindings;
  if (clause.name || !names || !ts.isNamedImports(names)) return false;
  return names.elements.length > 0 && names.elements.every((element) => element.isTypeOnly);
}

/**
 * Resolves a specifier to a file. `@countersign/<name>` is a folder with that name: contracts, or one in infra,
 * services or packages.
 */
function resolve(from: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return normalise(`${from.slice(0, from.lastIndexOf('/'))}/${specifier}`);
  const [scope, name = '', ...rest] = specifier.split('/');
  if (scope !== '@countersign') return null;
  const folder = unitFolder(name);
  return `${folder}/src/${rest.length === 0 ? 'index' : rest.join('/')}.ts`;
}

const services = new Set<string>(serviceNames);
const profiles = new Set(['deploy', 'local', 'services']);

function unitFolder(name: string): string {
  if (name === 'contracts') return 'contracts';
  if (profiles.has(name)) return `infra/${name}`;
  return services.has(name) ? `services/${name}` : `packages/${name}`;
}

function normalise(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

/**
 * The package, service or profile that a path belongs to: `packages/crypto`, `services/gateway`, `contracts`,
 * `infra/local`.
 */
export function unitOf(path: string): string {
  const [first = '', second = ''] = path.split('/');
  return first === 'contracts' ? first : `${first}/${second}`;
}

/** Path inside the unit's `src`, or `null` outside it. */
export function insideSrc(path: string): string | null {
  const prefix = `${unitOf(path)}/src/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : null;
}

/** The package of a specifier, such as `@prisma/client` for `@prisma/client/runtime`. */
export function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/');
  return first.startsWith('@') ? `${first}/${second}` : first;
}
