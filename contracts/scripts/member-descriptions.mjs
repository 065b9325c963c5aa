import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { commonMembers, typeDescriptions } from './members/index.mjs';

/**
 * The comment on a type, and the description of each of its members.
 * @typedef {{ text: string, members: Map<string, Description> }} Description
 * @typedef {{ files: Map<string, ts.SourceFile>, constants: Map<string, ts.VariableDeclaration[]>, functions: Map<string, ts.FunctionDeclaration> }} Sources
 */

const typesOfRoute = ['params', 'query', 'body', 'reply'];

/**
 * The comments on exported types and on routes, by path: `Task`, `Task.title`, `create-task.body.title`.
 * @param {string} folder The sources of the contracts.
 * @returns {Record<string, string>} Sorted by path.
 */
export function descriptionsOf(folder) {
  const sources = readSources(folder);
  /** @type {Map<string, string>} */
  const found = new Map();
  for (const declarations of sources.constants.values())
    for (const declaration of declarations) {
      if (!ts.isIdentifier(declaration.name) || declaration.initializer === undefined) continue;
      const { name, initializer } = declaration;
      const route = routeOf(initializer);
      if (route !== null) addRoute(found, route, sources);
      else if (/^[A-Z]/.test(name.text))
        add(
          found,
          name.text,
          describe(initializer, sources, commentOf(declaration) || (typeDescriptions[name.text] ?? ''), 0),
        );
    }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * @param {Map<string, string>} found
 * @param {ts.ObjectLiteralExpression} route
 * @param {Sources} sources
 */
function addRoute(found, route, sources) {
  const properties = new Map(
    route.properties.flatMap((member) =>
      ts.isPropertyAssignment(member) ? [[member.name.getText(), member.initializer]] : [],
    ),
  );
  const operation = properties.get('operation');
  if (operation === undefined || !ts.isStringLiteral(operation)) return;
  for (const place of typesOfRoute) {
    const type = properties.get(place);
    if (type !== undefined) add(found, `${operation.text}.${place}`, describe(type, sources, '', 0));
  }
}

/**
 * @param {Map<string, string>} found
 * @param {string} path
 * @param {Description} description
 */
function add(found, path, { text, members }) {
  if (text !== '' && !found.has(path)) found.set(path, text);
  for (const [name, member] of members) add(found, `${path}.${name}`, member);
}

/** The most levels that are followed. Members below them have only the descriptions of the types that they name. */
const depthMax = 12;

/**
 * @param {ts.Node} node An expression that makes a type.
 * @param {Sources} sources
 * @param {string} text The comment on it.
 * @param {number} depth
 * @returns {Description}
 */
function describe(node, sources, text, depth) {
  /** @type {Description} */
  const description = { text, members: new Map() };
  if (depth > depthMax) return description;
  /** @param {ts.Node} source */
  const merge = (source) => {
    for (const [name, member] of describe(source, sources, '', depth + 1).members)
      if (!description.members.has(name)) description.members.set(name, member);
  };
  if (ts.isObjectLiteralExpression(node)) {
    for (const member of node.properties) {
      if (ts.isSpreadAssignment(member)) merge(member.expression);
      else if (member.name !== undefined) {
        const type = ts.isPropertyAssignment(member) ? member.initializer : member.name;
        const name = ts.isIdentifier(member.name) || ts.isStringLiteral(member.name) ? member.name.text : '';
        const comment = commentOf(member) || (commonMembers[name] ?? '');
        description.members.set(name, describe(type, sources, comment, depth + 1));
      }
    }
  } else if (ts.isIdentifier(node)) {
    const declaration = declarationOf(node, sources);
    if (declaration?.initializer !== undefined) {
      if (text === '') description.text = commentOf(declaration);
      merge(declaration.initializer);
      if (description.text === '') description.text = textOf(declaration.initializer, sources, depth + 1);
    }
  } else if (ts.isPropertyAccessExpression(node)) {
    const owner = node.expression;
    if (ts.isPropertyAccessExpression(owner) && owner.name.text === 'shape') {
      const member = describe(owner.expression, sources, '', depth + 1).members.get(node.name.text);
      return { text: text === '' ? (member?.text ?? '') : text, members: member?.members ?? new Map() };
    }
    merge(owner);
  } else if (ts.isCallExpression(node)) {
    // The first description of a name is kept, so members of an extension come before those of the extended type.
    for (const argument of node.arguments) merge(argument);
    if (ts.isIdentifier(node.expression)) mergeFunction(node.expression, sources, merge);
    else merge(node.expression);
    if (text === '') description.text = textOf(node, sources, depth + 1);
  } else if (ts.isArrayLiteralExpression(node)) for (const element of node.elements) merge(element);
  else if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) merge(node.body);
  else if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node))
    merge(node.expression);
  return description;
}

/**
 * The comment on the type that a chain begins with: `Instant.nullable()` has that of `Instant`.
 * @param {ts.Node} node
 * @param {Sources} sources
 * @param {number} depth
 * @returns {string}
 */
function textOf(node, sources, depth) {
  if (depth > depthMax) return '';
  const keepsMeaning = new Set(['nullable', 'optional', 'default', 'min', 'max', 'refine', 'exclude']);
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    const { expression, name } = node.expression;
    return keepsMeaning.has(name.text) ? textOf(expression, sources, depth + 1) : '';
  }
  return ts.isIdentifier(node) ? describe(node, sources, '', depth + 1).text : '';
}

/**
 * @param {ts.Identifier} name
 * @param {Sources} sources
 * @param {(source: ts.Node) => void} merge
 */
function mergeFunction(name, sources, merge) {
  const declared = sources.functions.get(name.text);
  if (declared?.body === undefined) return merge(name);
  for (const statement of declared.body.statements)
    if (ts.isReturnStatement(statement) && statement.expression !== undefined) merge(statement.expression);
}

/**
 * The constant of this name in the same file, or else the first one in another file.
 * @param {ts.Identifier} name
 * @param {Sources} sources
 */
function declarationOf(name, { constants }) {
  const declarations = constants.get(name.text) ?? [];
  const file = name.getSourceFile();
  return declarations.find((declaration) => declaration.getSourceFile() === file) ?? declarations[0];
}

/** @param {ts.Expression} expression */
function routeOf(expression) {
  if (!ts.isCallExpression(expression) || expression.expression.getText() !== 'defineRoute') return null;
  const [route] = expression.arguments;
  return route !== undefined && ts.isObjectLiteralExpression(route) ? route : null;
}

/**
 * The doc comment directly above a declaration, on one line.
 * @param {ts.Node} node
 */
function commentOf(node) {
  const owner = ts.isVariableDeclaration(node) ? node.parent.parent : node;
  const file = owner.getSourceFile();
  const comment = (ts.getLeadingCommentRanges(file.text, owner.getFullStart()) ?? []).at(-1);
  const raw = comment === undefined ? '' : file.text.slice(comment.pos, comment.end);
  if (!raw.startsWith('/**')) return '';
  const text = raw.slice(3, -2).replace(/^[ \t]*\*[ \t]?/gm, '');
  return text
    .replace(/^\s*@\w+.*$/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/**
 * @param {string} folder
 * @returns {Sources}
 */
function readSources(folder) {
  /** @type {Sources} */
  const sources = { files: new Map(), constants: new Map(), functions: new Map() };
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!entry.endsWith('.ts') || entry.startsWith('generated')) continue;
    const path = join(folder, entry);
    const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    sources.files.set(entry, file);
    for (const statement of file.statements) {
      if (ts.isFunctionDeclaration(statement) && statement.name !== undefined)
        sources.functions.set(statement.name.text, statement);
      if (!ts.isVariableStatement(statement)) continue;
      for (const declaration of statement.declarationList.declarations) {
        const name = declaration.name.getText();
        sources.constants.set(name, [...(sources.constants.get(name) ?? []), declaration]);
      }
    }
  }
  return sources;
}
