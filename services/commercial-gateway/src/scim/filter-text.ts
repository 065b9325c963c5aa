import { scimLimits } from '@countersign/contracts/commercial-gateway';
import { scimRefusal } from './scim-refusal.ts';

/** A filter whose values are replaced by their indexes in `values`. A `null` in `values` means "no value". */
type ScannedFilter = { readonly text: string; readonly values: readonly (string | null)[] };

const token = /(\s+)|("(?:[^"\\]|\\.)*")|([()[\]])|([^\s"()[\]]+)/y;
const comparisons = new Set(['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le']);
const literals = new Set(['true', 'false', 'null']);

/**
 * Extracts the values of a filter before the library parses it. In scim2-parse-filter 0.2.10, the pattern for quoted
 * text takes exponential time for line feeds and does not decode escapes. The library also rejects the unquoted e-mail
 * addresses that some clients send.
 */
export function scanFilter(filter: string): ScannedFilter {
  if (filter.length > scimLimits.filterLength)
    throw scimRefusal('invalidFilter', `The filter is longer than ${scimLimits.filterLength} characters.`);
  const values: (string | null)[] = [];
  let text = '';
  let depth = 0;
  let negations = 0;
  let operator: string | null = null;
  let isAfterWord = false;
  const keep = (value: string | null) => `"${values.push(value) - 1}"`;
  for (const { quoted, bracket, word, blank } of tokensOf(filter)) {
    if (blank !== undefined) {
      text += ' ';
      continue;
    }
    if (operator !== null || quoted !== undefined) {
      text += keep(valueOf({ quoted, word, operator }));
      operator = null;
      isAfterWord = false;
      continue;
    }
    const name = word?.toLowerCase() ?? '';
    if (bracket === '(' || bracket === '[') depth += 1;
    if (bracket === ')' || bracket === ']') depth -= 1;
    if (name === 'not') negations += 1;
    else if (bracket !== '(') negations = 0;
    if (depth + negations > scimLimits.filterDepth)
      throw scimRefusal('invalidFilter', `The filter nests deeper than ${scimLimits.filterDepth} levels.`);
    operator = isAfterWord && comparisons.has(name) ? name : null;
    isAfterWord = word !== undefined && operator === null;
    text += bracket ?? word ?? '';
  }
  return { text, values };
}

type Token = { blank?: string; quoted?: string; bracket?: string; word?: string };

function tokensOf(filter: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < filter.length; at = token.lastIndex) {
    token.lastIndex = at;
    const match = token.exec(filter);
    if (match === null) throw scimRefusal('invalidFilter', `The filter has an open quotation mark at position ${at}.`);
    const [, blank, quoted, bracket, word] = match;
    tokens.push({
      ...(blank === undefined ? {} : { blank }),
      ...(quoted === undefined ? {} : { quoted }),
      ...(bracket === undefined ? {} : { bracket }),
      ...(word === undefined ? {} : { word }),
    });
  }
  return tokens;
}

/** Returns the value of a token. Unquoted text is accepted only after `eq`, where Entra and scripts send it. */
function valueOf({ quoted, word, operator }: Pick<Token, 'quoted' | 'word'> & { operator: string | null }) {
  if (quoted !== undefined) return decoded(quoted);
  if (word === undefined) throw scimRefusal('invalidFilter', 'The filter has a comparison without a value.');
  if (word.toLowerCase() === 'null') return null;
  if (operator !== 'eq' && !literals.has(word.toLowerCase()))
    throw scimRefusal('invalidFilter', `Put the value ${word} of the filter into quotation marks.`);
  return word;
}

function decoded(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    throw scimRefusal(
      'invalidFilter',
      'The filter has a quoted value that is not a JSON string. Escape quotes with a backslash.',
    );
  }
}
