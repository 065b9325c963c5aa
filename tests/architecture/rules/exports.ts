import ts from 'typescript';
import type { ImportGraph, SourceFile } from '../import-graph.ts';
import { insideSrc, unitOf } from '../import-graph.ts';

/** Every name of a file, where the file is taken as a whole. */
const everything = '*';

/** Names that one file takes from another. */
type Use = { from: string; to: string; name: string };

/**
 * What a file exports is imported by another one: within the package, or, if a public entry gives it on, by another package, a test, or
 * a document. `entries` are the public entries of all packages, `documented` the words of each package's README.
 */
export function everyExportHasAUser(
  graph: ImportGraph,
  { entries, documented }: { entries: ReadonlySet<string>; documented: ReadonlyMap<string, string> },
): string[] {
  const uses = graph.files.flatMap((file) => usesOf(file, graph));
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
        // Whoever takes a file as a whole goes through its names, as the generator of the OpenAPI documents does.
        if (usersOf.has(`${path}#${everything}`)) return true;
        const users = usersOf.get(`${path}#${name}`) ?? [];
        const isPublic = entries.has(path);
        return users.some((from) => !isPublic || isOutside(from, path)) || (isPublic && isDocumented(name));
      };
      return exportsOf(syntax)
        .filter((name) => !isUsed(name))
        .map((name) => `${path}: nobody imports ${name}`);
    });
}

/** Another unit, or the tests and scripts of the same one. */
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
    const { name } = statement as ts.FunctionDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration; // what can be exported has a name
    return name === undefined ? [] : [name.text];
  });
}

function usesOf({ path, syntax }: SourceFile, { edges }: ImportGraph): Use[] {
  const targets = new Map(edges.filter(({ from }) => from === path).map(({ specifier, to }) => [specifier, to]));
  const uses: Use[] = [];
  const visit = (node: ts.Node): void => {
    for (const { specifier, names } of takenBy(node)) {
      const to = targets.get(specifier);
      if (to) uses.push(...names.map((name) => ({ from: path, to, name })));
    }
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return uses;
}

type Taken = { specifier: string; names: string[] };

function takenBy(node: ts.Node): Taken[] {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    const bindings = node.importClause?.namedBindings;
    if (bindings === undefined) return [];
    const names = ts.isNamespaceImport(bindings) ? membersTaken(node, bindings) : bindings.elements.map(originalName);
    return [{ specifier: node.moduleSpecifier.text, names }];
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    const named = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause.elements : null;
    return [{ specifier: node.moduleSpecifier.text, names: named === null ? [everything] : named.map(originalName) }];
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && ts.isStringLiteral(node.argument.literal))
    return [
      { specifier: node.argument.literal.text, names: node.qualifier ? [node.qualifier.getText()] : [everything] },
    ];
  const argument =
    ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword ? node.arguments[0] : undefined;
  return argument && ts.isStringLiteralLike(argument) ? [{ specifier: argument.text, names: [everything] }] : [];
}

function originalName({ name, propertyName }: ts.ImportSpecifier | ts.ExportSpecifier): string {
  return (propertyName ?? name).text;
}

/** `import * as sql`: the members that are named; all of them where the object itself is handed on. */
function membersTaken(node: ts.Node, { name }: ts.NamespaceImport): string[] {
  const taken: string[] = [];
  const visit = (inner: ts.Node): void => {
    if (ts.isIdentifier(inner) && inner.text === name.text && inner !== name) {
      const { parent } = inner;
      if (ts.isPropertyAccessExpression(parent) && parent.expression === inner) taken.push(parent.name.text);
      else if (ts.isQualifiedName(parent) && parent.left === inner) taken.push(parent.right.text);
      else taken.push(everything);
    }
    ts.forEachChild(inner, visit);
  };
  visit(node.getSourceFile());
  return taken;
}
