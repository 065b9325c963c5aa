/** A tree as the rule sees it. `textOf` is null for a file that does not exist. */
export type Tree = { textOf(path: string): string | null; exists(path: string): boolean };

const linesMin = 2;
const linesMax = 15;

/** A folder that a newcomer opens says in a few lines what lives there, and names nothing that is not there. */
export function explainsItself(folder: string, { textOf, exists }: Tree): string[] {
  const text = textOf(`${folder}/README.md`);
  if (text === null) return [`${folder} has no README.md`];
  const lines = text.trim().split('\n').length;
  const size = lines < linesMin || lines > linesMax ? [`${folder}/README.md has ${lines} lines`] : [];
  const lost = placesIn(text).filter((place) => !basesOf(folder).some((base) => exists(`${base}${place}`)));
  return [...size, ...lost.map((place) => `${folder}/README.md names ${place}, which does not exist`)];
}

/**
 * Files and folders in backticks. A text that begins with a slash is the address of a route, one with a dot a public
 * entry.
 */
function placesIn(text: string): string[] {
  return [...text.matchAll(/`((?:\w[\w.-]*\/)*(?:\w[\w.-]*\.(?:ts|mjs|md|prisma)|\w[\w.-]*\/))`/g)].map(
    (match) => match[1] ?? '',
  );
}

/** A place is named from the folder itself, from its `src`, or from a folder above it, up to the root. */
function basesOf(folder: string): string[] {
  const segments = folder.split('/');
  const upwards = segments.map((_, index) => `${segments.slice(0, segments.length - index).join('/')}/`);
  return [...upwards, `${folder}/src/`, ''];
}
