import ts from 'typescript';
import type { ImportGraph, SourceFile } from '../import-graph.ts';
import { insideSrc, mayImport, nodesOf, unitOf } from '../import-graph.ts';

/** Stands for all names of a file where a file is imported as a whole. */
const everything = '*';

/** A name that one file imports from another. */
type Use = { from: string; to: string; name: string };

/**
 * Each export has a user. The user is another file of the package or, for a re-export of a public entry, another
 * package, a test, or a document. `entries` are the public entries of all packages, `documented` the words of each
 * package's README.
 */
export function everyExportHasAUser(
  graph: ImportGraph,
  { entries, documented }: { entries: ReadonlySet<string>; documented: ReadonlyMap<string, string> },
): string[] {
  const targets = targetsByFile(graph.edges);
  const uses = graph.files.flatMap((file) => usesOf(file, targets.get(file.path) ?? new Map<string, null>()));
  const usersOf = new Map<string, string[]>();
  for (const { from, to, name } of uses) {
    const users = usersOf.get(`${to}#${name}`) ?? [];
    users.push(from);
    usersOf.set(`${to}#${name}`, users);
  }
  return graph.files
    .filter(({ path }) => insideSrc(path) !== null)
    .flatMap(({ path, syntax }) => {
      const isDocumented = (name: string) => new RegExp(`\\b${name}\\b`).test(documented.get(unitOf(path)) ?? '');
      const isUsed = (name: string) => {
        // An import of a whole file uses all its names. The generator of the OpenAPI documents imports whole files.
        if (usersOf.has(`${path}#${everything}`)) return true;
        const users = usersOf.get(`${path}#${name}`) ?? [];
        const isPublic = entries.has(path);
        return users.some((from) => !isPublic || isOutside(from, path)) || (isPublic && isDocumented(name));
      };
      return exportsOf(syntax)
        .filter((name) => !isUsed(name))
        .map((name) => `${path}: ${name} is never imported`);
    });
}

/** Whether the importer is another unit, or a test or script of the same unit. */
function isOutside(from: string, entry: string): boolean {
  return unitOf(from) !== unitOf(entry) || insideSrc(from) === null;
}

export function exportsOf(syntax: ts.SourceFile): string[] {
  return syntax.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement))
      return statement.exportClause && ts.isNamedExports(statement.exportClause)
        ? statement.exportClause.elements.map(({ name }) => name.text)
        : [];
    const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.flatMap(({ name }) => (ts.isIdentifier(name) ? [name.text] : []));
    const { name } = statement as ts.FunctionDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration; // an exported declaration has a name
    return name === undefined ? [] : [name.text];
  });
}

function usesOf({ path, syntax }: SourceFile, targets: ReadonlyMap<string, string | null>): Use[] {
  return mayImport(syntax).flatMap((node) =>
    takenBy(node, syntax).flatMap(({ specifier, names }) => {
      const to = targets.get(specifier);
      return to ? names.map((name) => ({ from: path, to, name })) : [];
    }),
  );
}

/** The file that each specifier of each file resolves to. */
function targetsByFile(edges: ImportGraph['edges']): Map<string, Map<string, string | null>> {
  const byFile = new Map<string, Map<string, string | null>>();
  for (const { from, specifier, to } of edges)
    byFile.set(from, (byFile.get(from) ?? new Map<string, string | null>()).set(specifier, to));
  return byFile;
}

type Taken = { specifier: string; names: string[] };

function takenBy(node: ts.Node, syntax: ts.SourceFile): Taken[] {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const bindings = node.importClause?.namedBindings;
    if (bindings === undefined) return [];
    const names = ts.isNamespaceImport(bindings) ? membersTaken(syntax, bindings) : bindings.elements.map(originalName);
    return [{ specifier: node.moduleSpecifier.text, names }];
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    const named = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : null;
    return [{ specifier: node.moduleSpecifier.text, names: named === null ? [everything] : named.map(originalName) }];
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return [
      { specifier: node.argument.literal.text, names: node.qualifier ? [firstName(node.qualifier)] : [everything] },
    ];
  const argument =
    ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword ? node.arguments[0] : undefined;
  return argument && ts.isStringLiteralLike(argument) ? [{ specifier: argument.text, names: [everything] }] : [];
}

function originalName({ name, propertyName }: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (propertyName ?? name).text;
}

/** The first name, such as `Row` in `import('./rows.ts').Row.Key`. */
function firstName(name: ts.EntityName): string {
  return ts.isIdentifier(name) ? name.text : firstName(name.left);
}

/** Both sides of `a.b`, in an expression or in a type. */
function partsOf(node: ts.Node): [ts.Node, ts.Identifier | ts.PrivateIdentifier] | [undefined, undefined] {
  if (ts.isPropertyAccessExpression(node)) return [node.expression, node.name];
  return ts.isQualifiedName(node) ? [node.left, node.right] : [undefined, undefined];
}

/** The members of `import * as sql` that a file uses. All members count if the file passes on the object itself. */
function membersTaken(syntax: ts.SourceFile, { name }: ts.NamespaceImport): string[] {
  const isObject = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === name.text && node !== name;
  const named = new Set<ts.Node>();
  return nodesOf(syntax).flatMap((node) => {
    const [object, member] = partsOf(node);
    if (object !== undefined && isObject(object)) {
      named.add(object);
      return [member.text];
    }
    return isObject(node) && !named.has(node) ? [everything] : [];
  });
}
