import ts from 'typescript';
import { nodesOf, type ImportGraph } from '../import-graph.ts';

const consoleSources = 'packages/console/src/';
const listPath = `${consoleSources}api/routes.ts`;

/**
 * The clients of the console contain exactly the routes that its pages call. A call of an unlisted route does not
 * compile. A listed route that no file names as a member is reported here.
 */
export function consoleCallsItsRoutes({ files }: ImportGraph): string[] {
  const list = files.find(({ path }) => path === listPath);
  if (list === undefined) return [];
  const called = new Set(
    files
      .filter(({ path }) => path.startsWith(consoleSources) && path !== listPath)
      .flatMap(({ syntax }) => nodesOf(syntax).flatMap((node) => memberOf(node) ?? [])),
  );
  return nodesOf(list.syntax)
    .filter(ts.isShorthandPropertyAssignment)
    .filter(({ name }) => !called.has(name.text))
    .map(({ name }) => `${listPath}: lists ${name.text}, which no page calls`);
}

/** The member that a node reads from an object: `client.getMe`, or `{ getMe }` of a destructured client. */
function memberOf(node: ts.Node): string | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (!ts.isBindingElement(node)) return undefined;
  const name = node.propertyName ?? node.name;
  return ts.isIdentifier(name) ? name.text : undefined;
}
