import { Composer, CST, isNode, Lexer, LineCounter, Parser } from 'yaml';
import type { Document } from 'yaml';
import { bundleBytesMax } from '@countersign/contracts/governance-kernel';
import { PolicyError } from './policy-error.ts';

/**
 * The maximum number of nested lists and mappings. The arguments of a test have at most 32 levels, and begin a few
 * levels below the top.
 */
export const bundleDepthMax = 64;

export type YamlText = {
  readonly document: Document.Parsed;
  /** Lines count from 1. `null` when the node was not read from the text. */
  lineOf(node: unknown): number | null;
};

/**
 * The only reader of YAML. The lexer and the parser of the library are loops, but its composer is recursive. A text of
 * 64 KB that nests at every character exhausts the stack. V8 ends the process when that happens inside a regular
 * expression. Therefore each token is checked before the composer runs, for depth, anchors, aliases and tags. Aliases
 * multiply values, and tags change their meaning. Throws {@link PolicyError} with the line of the first fault.
 */
export function readYaml(text: string): YamlText {
  if (text.length > bundleBytesMax)
    throw new PolicyError('TOO_LARGE', '', `a bundle may have at most ${bundleBytesMax} bytes`);
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const tokens = boundedTokens(text, lines);
  const [document, second] = composerThatStops(lineAt).compose(tokens, true, text.length);
  // Stryker disable next-line all: The composer returns a document for every text.
  if (document === undefined) throw refused(1, 'the text has no document');
  if (second !== undefined) throw refused(lineAt(second.range[0]), 'a bundle must be a single document');
  return { document, lineOf: (node) => (isNode(node) && node.range ? lineAt(node.range[0]) : null) };
}

/**
 * The library collects an error with a stack trace for each character of a hostile text. This composer stops at the
 * first error.
 */
function composerThatStops(lineAt: (offset: number) => number): Composer {
  const composer = new Composer({
    schema: 'core',
    strict: true,
    // Duplicate keys are found later in one pass. The library would compare each key with every other one.
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
  });
  // `onError` is not documented, so the version of the library is pinned, and a test counts the errors. The automaton
  // of the engine for regular expressions is used in the same way (ADR 0070).
  let first: PolicyError | null = null;
  composer['onError'] = (place: Place, _code: unknown, message: string) => {
    // The library catches errors from inside a node and reports them here again, so the first one is kept.
    throw (first ??= refused(lineAt(offsetOf(place)), message));
  };
  return composer;
}

/** An offset, a range of offsets, or a token. */
type Place = number | readonly [number, ...number[]] | { readonly offset: number };

function offsetOf(place: Place): number {
  if (typeof place === 'number') return place;
  return 'offset' in place ? place.offset : place[0];
}

/** All tokens are read before the first is composed. */
function boundedTokens(text: string, lines: LineCounter): CST.Token[] {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    const { offset } = parser;
    for (const token of parser.next(lexeme)) tokens.push(token);
    const fault =
      (isScalar ? null : faultOfLexeme(lexeme)) ?? faultOfDepth(parser.stack) ?? faultOfToken(tokens.at(-1));
    if (fault !== null) throw refused(lines.linePos(offset).line, fault);
    isScalar = lexeme === CST.SCALAR;
  }
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

function faultOfLexeme(lexeme: string): string | null {
  switch (CST.tokenType(lexeme)) {
    case 'anchor':
    case 'alias':
      return 'anchors and aliases are refused';
    case 'tag':
      return 'tags are refused';
    default:
      return null;
  }
}

/** The stack begins with the document and may end with a scalar. All entries between them are lists and mappings. */
function faultOfDepth(stack: readonly CST.Token[]): string | null {
  if (stack.length - 1 <= bundleDepthMax || !CST.isCollection(stack.at(-1))) return null;
  return `nests deeper than ${bundleDepthMax} levels`;
}

function faultOfToken(token: CST.Token | undefined): string | null {
  return token?.type === 'error' ? token.message : null;
}

function refused(line: number, message: string): PolicyError {
  return new PolicyError('YAML_REFUSED', '', `line ${line}: ${message}`);
}
