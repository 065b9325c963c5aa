import { Composer, CST, isNode, Lexer, LineCounter, Parser } from 'yaml';
import type { Document } from 'yaml';
import { bundleBytesMax } from '@countersign/contracts/governance-kernel';
import { PolicyError } from './policy-error.ts';

/** Levels of lists and mappings. The arguments of a test have 32 at most and lie a few levels down. */
export const bundleDepthMax = 64;

export type YamlText = {
  readonly document: Document.Parsed;
  /** From 1; `null` for a node that was not read from the text. */
  lineOf(node: unknown): number | null;
};

/**
 * The only reader of YAML. The lexer and the parser of the library are loops, and the composer behind them is
 * recursive. A text of 64 KB that nests at every character exhausts the stack, and V8 ends the process when that
 * happens inside a regular expression. Each token is checked before the composer runs: for depth, and for anchors,
 * aliases and tags. Aliases multiply, and tags change what a reader sees. Throws {@link PolicyError} with the line of
 * the first fault.
 */
export function readYaml(text: string): YamlText {
  if (text.length > bundleBytesMax) throw new PolicyError('TOO_LARGE', '', `a bundle may have ${bundleBytesMax} bytes`);
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const tokens = boundedTokens(text, lines);
  const [document, second] = composerThatStops(lineAt).compose(tokens, true, text.length);
  // Stryker disable next-line all: The composer makes a document of any text.
  if (document === undefined) throw refused(1, 'the text has no document');
  if (second !== undefined) throw refused(lineAt(second.range[0]), 'a bundle is one document');
  return { document, lineOf: (node) => (isNode(node) && node.range ? lineAt(node.range[0]) : null) };
}

/** The library collects a fault for each character of a hostile text, each with a stack trace: this one stops at the first. */
function composerThatStops(lineAt: (offset: number) => number): Composer {
  const composer = new Composer({
    schema: 'core',
    strict: true,
    // Duplicate keys are found later in one pass: the library compares each key with each other.
    uniqueKeys: false,
    stringKeys: true,
    merge: false,
  });
  // Undocumented, like the engine's automaton (ADR 0070): its version is pinned, and a test counts the faults that are made.
  let first: PolicyError | null = null;
  composer['onError'] = (place: Place, _code: unknown, message: string) => {
    // The library makes faults of errors that come out of what a node contains.
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

/** All of them are read before the first is composed. */
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

/** The stack begins with the document and may end with a scalar; all between are lists and mappings. */
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
