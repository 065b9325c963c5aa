import { isDeepStrictEqual } from 'node:util';

/**
 * The differences between two OpenAPI documents: one line for each operation and each schema that was added (`+`),
 * removed (`-`) or changed (`~`).
 * @returns {string[]}
 */
export function changesOfApi(before, after) {
  return [
    ...changes('operation', operationsOf(before), operationsOf(after)),
    ...changes('schema', before.components.schemas, after.components.schemas),
  ];
}

function operationsOf({ paths }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
  );
  return Object.fromEntries(operations);
}

function changes(kind, before, after) {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name) => {
    if (isDeepStrictEqual(before[name], after[name])) return [];
    const sign = !(name in before) ? '+' : name in after ? '~' : '-';
    return [`${sign} ${kind} ${name}`];
  });
}
