import { linearRegExp } from './linear-regexp.ts';

/** The keyword that is added to each node of a schema. It contains the cost of judging one value. */
export const effortKeyword = 'countersign:effort';

/**
 * Units of work for a value, for each of its items or members, for each character of their names, and for each
 * character of a text.
 */
export type Effort = { value: number; item: number; member: number; nameCharacter: number; character: number };

/**
 * The largest schemas of popular servers have about two hundred nodes and a few patterns. Compiling a schema of this
 * size takes about thirty milliseconds.
 */
const nodesMax = 400;
const patternsMax = 100;
/**
 * The maximum size of all patterns together, in compiled instructions. A pattern has about one instruction for each
 * character. An instruction takes about ten microseconds to compile.
 */
const patternsSizeMax = 3_000;

/**
 * Keywords that contain a schema, a list of schemas, or schemas by name. Ajv applies no other keywords of draft-07 and
 * 2020-12.
 */
export const appliedKeywords = {
  one: new Set([
    ...['additionalProperties', 'additionalItems', 'items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'],
    ...['unevaluatedProperties', 'unevaluatedItems'],
  ]),
  list: new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']),
  named: new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependencies']),
};

type Schema = Record<string, unknown>;

/**
 * A copy of a schema in which each node contains its cost, so that its evaluation can be stopped. `null` when the cost
 * cannot be computed in advance. The reasons are too many nodes or patterns, a nested identifier, or a reference that
 * is not a pointer into this document.
 */
export function meteredSchema(schema: Schema): Schema | null {
  const root = structuredClone(schema);
  const efforts = new Map<Schema, Effort>();
  const patterns = new Set<string>();
  let patternsSize = 0;
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (!isSchema(node) || efforts.has(node)) continue;
    for (const pattern of patternsOf(node).filter((each) => !patterns.has(each))) {
      patterns.add(pattern);
      if (patterns.size > patternsMax) return null;
      patternsSize += linearRegExp(pattern).size;
      if (patternsSize > patternsSizeMax) return null;
    }
    if (efforts.size >= nodesMax || isForeign(node, node === root)) return null;
    efforts.set(node, effortOf(node));
    pending.push(...appliedBy(node), ...(typeof node['$ref'] === 'string' ? [resolve(root, node['$ref'])] : []));
  }
  // Costs are added after the walk, since a reference may lead to a node that was visited before.
  for (const [node, effort] of efforts) node[effortKeyword] = effort;
  return root;
}

function isSchema(node: unknown): node is Schema {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}

function patternsOf({ pattern, patternProperties }: Schema): string[] {
  return [...(typeof pattern === 'string' ? [pattern] : []), ...namesOf(patternProperties)];
}

function isForeign(node: Schema, isRoot: boolean): boolean {
  const { $ref: reference, $id: id } = node;
  if (typeof node['$dynamicRef'] === 'string' || typeof node['$recursiveRef'] === 'string') return true;
  if (typeof id === 'string' && !isRoot) return true;
  return typeof reference === 'string' && reference !== '#' && !reference.startsWith('#/');
}

function appliedBy(node: Schema): unknown[] {
  return Object.entries(node).flatMap(([keyword, value]): unknown[] => {
    if (Array.isArray(value)) return appliedKeywords.list.has(keyword) ? value : [];
    if (!isSchema(value)) return [];
    if (appliedKeywords.one.has(keyword)) return [value];
    return appliedKeywords.named.has(keyword) ? Object.values(value) : [];
  });
}

/**
 * The cost of the generated code for one value, without the keywords that read a whole value (`metered-keywords.ts`). A
 * node that fails at its type consumes nothing, so its parent includes the cost of its visit.
 */
function effortOf(node: Schema): Effort {
  const { properties, patternProperties, required, dependencies, dependentRequired, dependentSchemas } = node;
  const written = [properties, required, dependencies, dependentRequired, dependentSchemas];
  const patterns = namesOf(patternProperties);
  const has = (...keywords: string[]) => keywords.filter((keyword) => keyword in node).length;
  return {
    value:
      1 +
      appliedBy(node).length +
      written.reduce<number>((sum, child) => sum + sizeOf(child), 0) / 4 +
      costOfConst(node),
    item: has('items', 'contains', 'additionalItems', 'unevaluatedItems'),
    member: patterns.length / 2 + has('additionalProperties', 'propertyNames') + 2 * has('unevaluatedProperties'),
    nameCharacter: patterns.reduce((sum, pattern) => sum + costOfPattern(pattern), 0),
    character: has('maxLength', 'minLength') / 10,
  };
}

function costOfPattern(pattern: string): number {
  return linearRegExp(pattern).costPerCharacter;
}

function namesOf(child: unknown): string[] {
  return isSchema(child) ? Object.keys(child) : [];
}

function sizeOf(child: unknown): number {
  return typeof child === 'object' && child !== null ? Object.keys(child).length : 0;
}

/** A comparison with a constant reads the whole constant. */
function costOfConst({ const: value }: Schema): number {
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length / 8 : 0;
}

function resolve(root: unknown, reference: string): unknown {
  let node = root;
  for (const step of reference.split('/').slice(1)) {
    const member = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    // Stryker disable next-line ConditionalExpression,LogicalOperator: Speed alone: other values are rejected later.
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, member)) return undefined;
    node = (node as Record<string, unknown>)[member]; // an own member by the check above
  }
  return node;
}
