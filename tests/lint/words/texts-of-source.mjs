import ts from 'typescript';

/** @typedef {import('./rules.mjs').TextKind} TextKind */
/** @typedef {{ kind: TextKind, text: string, line: number }} Text `line` counts from 1. */
/** @typedef {{ name: string, line: number }} DeclaredName */

/** A suppression or a directive is read by a tool. Only its reason after `--` is prose. */
const directive = /^\s*(eslint-|@ts-|prettier-|@type\b|@typedef\b|@param\b|@returns\b|#region|<reference)/;
/** Prose has at least three words. A shorter string is a code, a name or a key. */
const wordsMin = 3;

/**
 * Comments, strings that are prose, and declared names of a source file.
 * @param {string} path
 * @param {string} source
 * @returns {{ texts: Text[], names: DeclaredName[] }}
 */
export function textsOfSource(path, source) {
  const kind = path.endsWith('x') ? ts.ScriptKind.TSX : path.endsWith('.mjs') ? ts.ScriptKind.JS : ts.ScriptKind.TS;
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true, kind);
  /** @param {number} position */
  const lineOf = (position) => file.getLineAndCharacterOfPosition(position).line + 1;
  /** @type {Text[]} */
  const texts = [];
  /** @type {DeclaredName[]} */
  const names = [];
  /** @type {Map<number, number>} End of each comment by its begin: a comment is trivia of more than one node. */
  const comments = new Map();

  /** @param {ts.Node} node */
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? [])
      comments.set(range.pos, range.end);
    for (const range of ts.getTrailingCommentRanges(source, node.getEnd()) ?? []) comments.set(range.pos, range.end);
    const text = proseOf(node);
    if (text !== null) texts.push({ kind: 'string', text, line: lineOf(node.getStart(file)) });
    const name = declaredName(node);
    if (name !== null) names.push({ name: name.text, line: lineOf(name.getStart(file)) });
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { text, line } of joined([...comments].map(([begin, end]) => commentAt(source, begin, end, lineOf))))
    texts.push({ kind: 'comment', text, line });
  return { texts, names };
}

/**
 * @param {string} source
 * @param {number} begin
 * @param {number} end
 * @param {(position: number) => number} lineOf
 */
function commentAt(source, begin, end, lineOf) {
  const raw = source.slice(begin, end);
  const isLine = raw.startsWith('//');
  const text = isLine ? raw.slice(2).trim() : raw.slice(2, -2).replace(/^[ \t]*\*[ \t]?/gm, '');
  return {
    text: directive.test(text.replace(/^\s*\*?\s*/, '')) ? reasonOf(text) : withoutTags(text),
    line: lineOf(begin),
    isLine,
  };
}

/** @param {string} text */
function reasonOf(text) {
  return /--\s+([\s\S]*)$/.exec(text)?.[1] ?? '';
}

/**
 * Types and names of tags are code; their explanation is prose.
 * @param {string} text
 */
function withoutTags(text) {
  return text.replace(/^[*\s]*@(\w+)[ \t]*(\{.*\})?[^\n]*$/gm, '');
}

/**
 * Comments on consecutive lines are one text.
 * @param {{ text: string, line: number, isLine: boolean }[]} comments
 */
function joined(comments) {
  /** @type {{ text: string, line: number, last: number, isLine: boolean }[]} */
  const texts = [];
  for (const comment of comments.sort((a, b) => a.line - b.line)) {
    const before = texts.at(-1);
    if (before !== undefined && comment.isLine && before.isLine && before.last + 1 === comment.line) {
      before.text += `\n${comment.text}`;
      before.last = comment.line;
    } else texts.push({ ...comment, last: comment.line });
  }
  return texts;
}

/**
 * @param {ts.Node} node
 * @returns {string | null} The text of a string or template that is prose. A value in a template becomes `…`.
 */
function proseOf(node) {
  const text = stringOf(node);
  return text !== null && text.trim().split(/\s+/).length >= wordsMin ? text : null;
}

/** @param {ts.Node} node */
function stringOf(node) {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isJsxText(node)) return node.text.trim();
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map(({ literal }) => `\`…\`${literal.text}`).join('');
}

/**
 * Returns `null` for public members and for destructured members that keep their name: their contract defines these
 * names.
 * @param {ts.Node} node
 */
function declaredName(node) {
  if (ts.isBindingElement(node)) return ts.isIdentifier(node.name) && !keepsName(node) ? node.name : null;
  if (ts.isPropertyDeclaration(node) || ts.isMethodDeclaration(node))
    return ts.isPrivateIdentifier(node.name) ? node.name : null;
  const declares =
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isClassDeclaration(node);
  return declares && node.name !== undefined && ts.isIdentifier(node.name) ? node.name : null;
}

/** @param {ts.BindingElement} element */
function keepsName({ parent, propertyName, dotDotDotToken }) {
  return ts.isObjectBindingPattern(parent) && propertyName === undefined && dotDotDotToken === undefined;
}
