/** A schema of honest size has hundreds of nodes; references that multiply each other pass this within a few lines. */
const nodesMax = 50_000;

/**
 * True when judging one value may visit more schema nodes than allowed, or when a reference is anything but a pointer into the
 * same document (remote, by anchor, dynamic), whose cost could not be told. A cycle costs nothing here: the depth of the
 * arguments bounds it.
 */
export function isTooCostly(root: unknown): boolean {
  const costs = new Map<object, number>();
  return costOf(root) > nodesMax;

  function costOf(node: unknown): number {
    if (typeof node !== 'object' || node === null) return 0;
    const known = costs.get(node);
    if (known !== undefined) return known;
    costs.set(node, 1); // what a cycle back to here finds
    let cost = 1;
    for (const [member, value] of Object.entries(node)) cost += memberCost(member, value);
    costs.set(node, cost);
    return cost;
  }

  function memberCost(member: string, value: unknown): number {
    if (member === '$defs' || member === 'definitions') return 0; // judged only where they are referred to
    if ((member === '$dynamicRef' || member === '$recursiveRef') && typeof value === 'string')
      return Number.POSITIVE_INFINITY;
    if (member !== '$ref' || typeof value !== 'string') return costOf(value);
    return value === '#' || value.startsWith('#/') ? costOf(resolve(root, value)) : Number.POSITIVE_INFINITY;
  }
}

function resolve(root: unknown, reference: string): unknown {
  let node = root;
  for (const step of reference.split('/').slice(1)) {
    const member = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, member)) return undefined;
    node = (node as Record<string, unknown>)[member]; // an own member by the check above
  }
  return node;
}
