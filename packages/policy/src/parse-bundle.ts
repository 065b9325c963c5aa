import { isMap, isScalar, visit } from 'yaml';
import type { YAMLMap } from 'yaml';
import { bundleBytesMax, PolicyBundle } from '@countersign/contracts/governance-kernel';
import { parsePlainJson, parseStrictJson } from '@countersign/crypto';
import { isLiteralGlob } from './glob.ts';
import { PolicyError } from './policy-error.ts';
import { bundleDepthMax, readYaml, type YamlText } from './read-yaml.ts';

/**
 * Reads a bundle from text (JSON when it begins with `{`, else YAML 1.2) or from a value that was parsed elsewhere, and fills in
 * defaults. Strict: unknown members, duplicate keys, YAML anchors, aliases and tags, and duplicate rule ids are refused.
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
    throw new PolicyError('TOO_LARGE', '', `a bundle may have ${bundleBytesMax} bytes`);
  }
  try {
    if (typeof source !== 'string') return parsePlainJson(source);
    if (!source.trimStart().startsWith('{')) return parsePlainJson(parseYaml(source));
    return parseStrictJson(source, { bytesMax: bundleBytesMax, depthMax: bundleDepthMax });
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    throw new PolicyError('MALFORMED_BUNDLE', '', error instanceof Error ? error.message : 'unreadable bundle');
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

/** A name that is longer is found by its line. */
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
  // Stryker disable next-line StringLiteral: A schema that refuses has an issue.
  if (issue === undefined) return new PolicyError('MALFORMED_BUNDLE', '', 'not a policy bundle');
  const path = pointer(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return new PolicyError('UNKNOWN_MEMBER', path, `unknown member ${issue.keys?.join(', ') ?? ''}`);
  }
  return new PolicyError('MALFORMED_BUNDLE', path, issue.message);
}

/**
 * No call would match it, and its author would take its tools for declared. A bundle that is in force stays as it is.
 */
function refuseToolPatterns({ tools = {} }: PolicyBundle): void {
  const pattern = Object.keys(tools).find((name) => !isLiteralGlob(name));
  if (pattern === undefined) return;
  const message = `${shownKey(pattern)} is a pattern: tools are declared by their whole names, and patterns are for rules`;
  throw new PolicyError('MALFORMED_BUNDLE', pointer(['tools', pattern]), message);
}

function refuseDuplicateIds(bundle: PolicyBundle): void {
  const seen = new Set<string>();
  bundle.rules.forEach((rule, index) => {
    if (seen.has(rule.id)) throw new PolicyError('DUPLICATE_RULE_ID', `/rules/${index}/id`, `second rule ${rule.id}`);
    seen.add(rule.id);
  });
}
