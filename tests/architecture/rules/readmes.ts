/** A tree of files for the rule. `textOf` returns `null` for a file that does not exist. */
export type Tree = { textOf(path: string): string | null; exists(path: string): boolean };

const linesMin = 2;
const linesMax = 15;

/** The README of a folder is short, and names only files and folders that exist. */
export function explainsItself(folder: string, { textOf, exists }: Tree): string[] {
  const text = textOf(`${folder}/README.md`);
  if (text === null) return [`${folder} has no README.md`];
  const lines = text.trim().split('\n').length;
  const size = lines < linesMin || lines > linesMax ? [`${folder}/README.md has ${lines} lines`] : [];
  const lost = placesIn(text).filter((place) => !basesOf(folder).some((base) => exists(`${base}${place}`)));
  return [...size, ...lost.map((place) => `${folder}/README.md names ${place}, which does not exist`)];
}

/**
 * Files and folders in backticks. A text that begins with a slash is the path of a route. A text that begins with a dot
 * is a public entry.
 */
function placesIn(text: string): string[] {
  return [...text.matchAll(/`((?:\w[\w.-]*\/)*(?:\w[\w.-]*\.(?:ts|mjs|md|prisma)|\w[\w.-]*\/))`/g)].map(
    (match) => match[1] ?? '',
  );
}

/** A path may be relative to the folder itself, to its `src`, or to any folder above it. */
function basesOf(folder: string): string[] {
  const segments = folder.split('/');
  const upwards = segments.map((_, index) => `${segments.slice(0, segments.length - index).join('/')}/`);
  return [...upwards, `${folder}/src/`, ''];
}
