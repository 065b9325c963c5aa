import { isMap, isScalar, visit } from 'yaml';
import type { YAMLMap } from 'yaml';
import { bundleBytesMax, PolicyBundle } from '@countersign/contracts/governance-kernel';
import { parsePlainJson, parseStrictJson } from '@countersign/crypto';
import { isLiteralGlob } from './glob.ts';
import { PolicyError } from './policy-error.ts';
import { bundleDepthMax, readYaml, type YamlText } from './read-yaml.ts';

/**
 * Reads a bundle from a parsed value or from text: JSON when it begins with `{`, otherwise YAML 1.2. Fills in defaults.
 * Rejects unknown members, duplicate keys, YAML anchors, aliases and tags, duplicate rule ids, and patterns in `tools`.
 * Throws {@link PolicyError}.
 */
export function parsePolicyBundle(source: unknown): PolicyBundle {
  const parsed = PolicyBundle.safeParse(plainValue(source));
  if (!parsed.success) throw schemaError(parsed.error.issues[0]);
  refuseDuplicateIds(parsed.data);
  refuseToolPatterns(parsed.data);
  return parsed.data;
}

function plainValue(source: unknown): unknown {
  if (typeof source === 'string' && source.length > bundleBytesMax) {
    throw new PolicyError('TOO_LARGE', '', `a bundle may have at most ${bundleBytesMax} bytes`);
  }
  try {
    if (typeof source !== 'string') return parsePlainJson(source);
    if (!source.trimStart().startsWith('{')) return parsePlainJson(parseYaml(source));
    return parseStrictJson(source, { bytesMax: bundleBytesMax, depthMax: bundleDepthMax });
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    throw new PolicyError('MALFORMED_BUNDLE', '', error instanceof Error ? error.message : 'the bundle cannot be read');
  }
}

function parseYaml(text: string): unknown {
  const { document, lineOf } = readYaml(text);
  visit(document, (_key, node) => {
    if (isMap(node)) refuseTwins(node, lineOf);
  });
  // Stryker disable next-line ObjectLiteral: Aliases were refused before.
  return document.toJS({ maxAliasCount: 0 });
}

function refuseTwins({ items }: YAMLMap, lineOf: YamlText['lineOf']): void {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    const name = isScalar(key) ? key.value : key;
    if (seen.has(name)) throw refused(`line ${lineOf(key)}: ${shownKey(name)} is declared twice`);
    seen.add(name);
  }
}

/** Longer names are truncated. Their full text is not needed, since the message also states their place. */
const shownKeyLengthMax = 80;

function shownKey(name: unknown): string {
  const text = String(name);
  return text.length > shownKeyLengthMax ? `${text.slice(0, shownKeyLengthMax)}…` : text;
}

function refused(message: string): PolicyError {
  return new PolicyError('YAML_REFUSED', '', message);
}

/** RFC 6901 section 3. */
function pointer(path: readonly PropertyKey[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

type Issue = { code: string; path: PropertyKey[]; message: string; keys?: string[] };

function schemaError(issue: Issue | undefined): PolicyError {
  // Stryker disable next-line StringLiteral: A failed check has an issue.
  if (issue === undefined) return new PolicyError('MALFORMED_BUNDLE', '', 'the text is not a policy bundle');
  const path = pointer(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return new PolicyError('UNKNOWN_MEMBER', path, `unknown member ${issue.keys?.join(', ') ?? ''}`);
  }
  return new PolicyError('MALFORMED_BUNDLE', path, issue.message);
}

/**
 * A pattern as a name in `tools` would match no call, although its author would think that it declares tools. Bundles
 * that are already active are not checked again.
 */
function refuseToolPatterns({ tools = {} }: PolicyBundle): void {
  const pattern = Object.keys(tools).find((name) => !isLiteralGlob(name));
  if (pattern === undefined) return;
  const message = `${shownKey(pattern)} is a pattern: declare each tool by its full name, and use patterns only in rules`;
  throw new PolicyError('MALFORMED_BUNDLE', pointer(['tools', pattern]), message);
}

function refuseDuplicateIds(bundle: PolicyBundle): void {
  const seen = new Set<string>();
  bundle.rules.forEach((rule, index) => {
    if (seen.has(rule.id))
      throw new PolicyError(
        'DUPLICATE_RULE_ID',
        `/rules/${index}/id`,
        `the id ${rule.id} belongs to two rules. Rename one`,
      );
    seen.add(rule.id);
  });
}
