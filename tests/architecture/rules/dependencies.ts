import { packageOf } from '../import-graph.ts';

/** A package with the names of its dependencies, and all literal texts of its own code, imports included. */
export type Manifest = { path: string; dependencies: readonly string[]; literals: readonly string[] };

/** The text of the Makefile and the configurations. They start the declared tools by path from the root. */
export type Tools = { text: string };

/**
 * A package's own code imports or resolves each of its dependencies. A types package counts with the package that it
 * describes.
 */
export function everyDependencyIsUsed(manifests: readonly Manifest[], { text }: Tools): string[] {
  return manifests.flatMap(({ path, dependencies, literals }) => {
    const used = new Set(literals.map(packageOf));
    const isUsed = (name: string) =>
      used.has(name) || used.has(describedBy(name)) || text.includes(`node_modules/${name}/`);
    return dependencies.filter((name) => !isUsed(name)).map((name) => `${path}: nothing uses ${name}`);
  });
}

/** The package that a types package describes, such as `express` for `@types/express`. */
function describedBy(name: string): string {
  return name.startsWith('@types/') ? name.slice('@types/'.length) : name;
}
