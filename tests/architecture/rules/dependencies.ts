import { packageOf } from '../import-graph.ts';

/** A package with the names of what it depends on, and every text that its own code holds as a literal, imports included. */
export type Manifest = { path: string; dependencies: readonly string[]; literals: readonly string[] };

/** Tools that a package declares are started by path from the root: their user is the Makefile or a configuration. */
export type Tools = { text: string };

/**
 * A package's own code imports or resolves each of its dependencies; types come with the package that they describe.
 */
export function everyDependencyIsUsed(manifests: readonly Manifest[], { text }: Tools): string[] {
  return manifests.flatMap(({ path, dependencies, literals }) => {
    const used = new Set(literals.map(packageOf));
    const isUsed = (name: string) =>
      used.has(name) || used.has(describedBy(name)) || text.includes(`node_modules/${name}/`);
    return dependencies.filter((name) => !isUsed(name)).map((name) => `${path}: nothing uses ${name}`);
  });
}

/** `express` of `@types/express`. */
function describedBy(name: string): string {
  return name.startsWith('@types/') ? name.slice('@types/'.length) : name;
}
